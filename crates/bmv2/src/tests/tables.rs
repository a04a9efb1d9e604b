//! Tables: every match kind, direct counters and meters, action profiles and selectors.

use super::{Parts, Pass, frame};
use sojourn_control::runtime_control::RuntimeControl;
use sojourn_externs::counter::Count;
use sojourn_externs::meter::MeterSpec;

fn table(key: &str, properties: &str, declared: &str) -> Pass {
    let declared = format!(
        "{declared}
         action mark(bit<8> value) {{ h.note.a = value; }}
         table t {{ key = {{ {key} }} actions = {{ mark; NoAction; }} {properties} }}"
    );
    let apply = "h.note.setValid(); h.note.a = 255; t.apply();";
    Parts { ingress: (&declared, apply), ..Parts::default() }.load()
}

fn configure(pass: &mut Pass, control: &str) {
    let control = serde_json::from_str(control).unwrap_or_else(|error| panic!("{error}"));
    pass.plane.configure(&control).unwrap_or_else(|error| panic!("{error}"));
}

fn marks(pass: &mut Pass, kinds: &[u16]) -> Vec<u64> {
    kinds.iter().map(|kind| pass.note(&frame(*kind, &[]))[0]).collect()
}

#[test]
fn each_match_kind_finds_its_entries() {
    let cases = [
        ("exact", r#"7"#, [255, 1, 255]),
        ("ternary", r#"{ "value": 6, "mask": 6 }"#, [1, 1, 255]),
        ("lpm", r#"{ "value": 6, "prefix": 15 }"#, [1, 1, 255]),
        ("range", r#"{ "low": 7, "high": 9 }"#, [255, 1, 1]),
        ("optional", r#"7"#, [255, 1, 255]),
    ];
    for (kind, value, want) in cases {
        let mut pass = table(&format!("h.eth.kind: {kind};"), "", "");
        let entry = format!(
            r#"{{ "tables": [{{ "name": "t", "entries": [{{ "match": {{ "h.eth.kind": {value} }},
                 "action": "mark", "args": {{ "value": 1 }} }}] }}] }}"#
        );
        configure(&mut pass, &entry);
        assert_eq!(marks(&mut pass, &[6, 7, 8]), want, "{kind}");
    }
}

#[test]
fn an_optional_key_that_is_left_out_matches_anything_and_the_lower_priority_number_wins() {
    let mut pass = table("h.eth.kind: optional; h.eth.dst: optional;", "", "");
    configure(
        &mut pass,
        r#"{ "tables": [{ "name": "t", "entries": [
            { "match": {}, "action": "mark", "args": { "value": 2 }, "priority": 20 },
            { "match": { "h.eth.kind": 5 }, "action": "mark", "args": { "value": 1 },
              "priority": 10 }] }] }"#,
    );
    assert_eq!(marks(&mut pass, &[5, 6]), [1, 2]);
}

#[test]
fn entries_in_the_program_are_ranked_by_prefix_in_lpm_and_by_order_in_ternary_tables() {
    let entries = "const entries = { 0x1200 &&& 0xff00: mark(1); 0x1234: mark(2); _: mark(3); }";
    let mut pass = table("h.eth.kind: lpm;", entries, "");
    assert_eq!(marks(&mut pass, &[0x1234, 0x1235, 0x1334]), [2, 1, 3]);
    let mut pass = table("h.eth.kind: ternary;", entries, "");
    assert_eq!(marks(&mut pass, &[0x1234, 0x1235, 0x1334]), [1, 1, 3]);
}

const ENTRY: &str = r#"{ "tables": [{ "name": "t", "entries": [
    { "match": { "h.eth.kind": 7 }, "action": "NoAction" },
    { "match": { "h.eth.kind": 8 }, "action": "mark", "args": { "value": 3 } }] }] }"#;

#[test]
fn a_direct_counter_counts_every_hit_whether_its_action_asks_or_not() {
    let mut pass = table(
        "h.eth.kind: exact;",
        "counters = hits;",
        "direct_counter(CounterType.packets_and_bytes) hits;",
    );
    configure(&mut pass, ENTRY);
    marks(&mut pass, &[7, 7, 8, 9]);
    let mut count = |at| pass.plane.read_counter("hits", at).unwrap();
    assert_eq!(count(0), Count { packets: 2, bytes: 28 });
    assert_eq!(count(1), Count { packets: 1, bytes: 14 });
}

#[test]
fn a_direct_meter_marks_every_hit_where_one_action_reads_it() {
    let declared = "direct_meter<bit<8>>(MeterType.packets) rate;
        action metered() { rate.read(m.none); }
        table u {
            key = { h.eth.kind: exact; } actions = { metered; NoAction; } meters = rate;
        }";
    let parts = Parts {
        ingress: (declared, "m.none = 9; u.apply(); h.note.setValid(); h.note.a = m.none;"),
        ..Parts::default()
    };
    let mut pass = parts.load();
    let entries = ENTRY.replace("\"t\"", "\"u\"");
    let entries = entries.replace(r#""mark", "args": { "value": 3 }"#, r#""metered""#);
    configure(&mut pass, &entries);
    assert_eq!(marks(&mut pass, &[7, 8, 9]), [0, 0, 9]);
    let now = pass.now;
    let spec = MeterSpec { cir: 1, cbs: 1, pir: 1, pbs: 2 };
    for entry in 0..2 {
        assert!(pass.plane.meter_mut("rate").unwrap().configure(entry, spec, now));
    }
    // Entry 7 runs NoAction, and is metered, too.
    assert_eq!(marks(&mut pass, &[7, 7, 7, 8, 9]), [0, 1, 2, 0, 9]);
}

#[test]
fn a_selector_spreads_flows_over_the_members_of_a_group() {
    let mut pass = table(
        "h.eth.kind: exact; h.eth.src: selector;",
        "implementation = ecmp;",
        "action_selector(HashAlgorithm.crc16, 32w16, 32w8) ecmp;",
    );
    configure(
        &mut pass,
        r#"{ "action_profiles": [{ "name": "ecmp", "members": [
                { "id": 1, "action": "mark", "args": { "value": 1 } },
                { "id": 2, "action": "mark", "args": { "value": 2 } }],
              "groups": [[5, [[1, true], [2, true]]]] }],
            "tables": [{ "name": "t", "entries": [
                { "match": { "h.eth.kind": 7 }, "group": 5 },
                { "match": { "h.eth.kind": 8 }, "member": 2 }] }] }"#,
    );
    let crc = crc::Crc::<u16>::new(&crc::CRC_16_ARC);
    for flow in 0..32u8 {
        let mut packet = frame(7, &[]);
        packet[11] = flow;
        let low_byte = crc.checksum(&packet[6..12]) & 0xff;
        assert_eq!(pass.note(&packet)[0], u64::from(low_byte % 2) + 1, "flow {flow}");
    }
    assert_eq!(marks(&mut pass, &[8, 9]), [2, 255]);
}

#[test]
fn a_table_with_an_action_profile_has_no_default_action() {
    for profile in ["action_profile(16)", "action_selector(HashAlgorithm.crc16, 32w16, 32w8)"] {
        let declared = format!(
            "{profile} members;
             action mark(bit<8> value) {{ h.note.a = value; }}
             table t {{ key = {{ h.eth.kind: exact; }} actions = {{ mark; NoAction; }}
                 default_action = mark(1); implementation = members; }}"
        );
        let apply = "h.note.setValid(); h.note.a = 255; h.note.b = 5;
                     if (t.apply().miss) { h.note.b = 6; }";
        let parts = Parts { ingress: (&declared, apply), ..Parts::default() };
        let warnings = parts.try_load_with_warnings(1).unwrap().warnings;
        let codes: Vec<_> = warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(codes, ["V0204"], "{profile}");
        assert!(warnings[0].message.contains("`Ig.mark` is not run"), "{}", warnings[0].message);

        let mut pass = parts.load();
        let missed = pass.note(&frame(7, &[]));
        assert_eq!(missed[..2], [255, 6], "{profile}");
        let refused = serde_json::from_str(
            r#"{ "tables": [{ "name": "t",
                 "default": { "action": "mark", "args": { "value": 2 } } }] }"#,
        );
        let error = pass.plane.configure(&refused.unwrap()).unwrap_err().to_string();
        assert!(error.contains("`Ig.t` has no default action"), "{error}");
    }
}

#[test]
fn a_miss_in_a_table_with_an_action_profile_passes_the_whole_switch_on_what_ran() {
    let declared = |implementation: &str| {
        format!(
            "action_profile(16) members;
             action mark(bit<8> value) {{ h.note.a = value; }}
             table t {{ key = {{ h.eth.kind: exact; }} actions = {{ mark; NoAction; }}
                 {implementation} }}"
        )
    };
    let apply = "h.note.setValid(); h.note.a = 255; h.note.b = 5;
                 switch (t.apply().action_run) { mark: { h.note.b = 6; } default: { h.note.b = 7; } }";
    for (implementation, marked) in [("implementation = members;", 5), ("", 7)] {
        let declared = declared(implementation);
        let mut pass = Parts { ingress: (&declared, apply), ..Parts::default() }.load();
        assert_eq!(pass.note(&frame(7, &[]))[..2], [255, marked], "{implementation}");
    }
}

#[test]
fn a_default_action_that_does_nothing_is_not_warned_of_next_to_an_action_profile() {
    for default in ["", "default_action = NoAction();"] {
        let declared = format!(
            "action_profile(16) members;
             table t {{ key = {{ h.eth.kind: exact; }} actions = {{ NoAction; }}
                 {default} implementation = members; }}"
        );
        let parts = Parts { ingress: (&declared, "t.apply();"), ..Parts::default() };
        assert!(parts.try_load_with_warnings(1).unwrap().warnings.is_empty(), "{default}");
    }
}

#[test]
fn a_program_sees_the_macro_of_bmv2_and_not_that_of_tofino() {
    let declared = "
#ifdef __TARGET_BMV2__
const bit<8> BMV2 = 1;
#else
const bit<8> BMV2 = 0;
#endif
#ifdef __TARGET_TOFINO__
const bit<8> TOFINO = 1;
#else
const bit<8> TOFINO = 0;
#endif
";
    let apply = "h.note.setValid(); h.note.a = BMV2; h.note.b = TOFINO;";
    let parts = Parts { types: declared, ingress: ("", apply), ..Parts::default() };
    assert_eq!(parts.load().note(&frame(7, &[]))[..2], [1, 0]);
}

#[test]
fn a_value_set_is_filled_by_the_control_plane() {
    let parts = Parts {
        locals: "value_set<bit<16>>(4) known;",
        parser: "transition select(h.eth.kind) { known: seen; default: accept; }",
        states: "state seen { m.none = 4; transition accept; }",
        ingress: ("", "h.note.setValid(); h.note.a = m.none;"),
        ..Parts::default()
    };
    let mut pass = parts.load();
    assert_eq!(marks(&mut pass, &[7, 8]), [0, 0]);
    configure(&mut pass, r#"{ "value_sets": [{ "name": "known", "members": [[8]] }] }"#);
    assert_eq!(marks(&mut pass, &[7, 8]), [0, 4]);
}

#[test]
fn wrong_entries_are_refused_with_the_reason() {
    let mut pass = table("h.eth.kind: exact;", "", "");
    let mut refused = |entry: &str| {
        let text = format!(r#"{{ "tables": [{{ "name": "t", "entries": [{entry}] }}] }}"#);
        let control = serde_json::from_str(&text).unwrap();
        pass.plane.configure(&control).unwrap_err().to_string()
    };
    let entry = r#"{ "match": { "h.eth.kind": 65536 }, "action": "NoAction" }"#;
    assert!(refused(entry).contains("65536 does not fit"));
    let twice = r#"{ "match": { "h.eth.kind": 1 }, "action": "NoAction" }"#;
    assert!(refused(&format!("{twice}, {twice}")).contains("same match"));
    assert!(refused(r#"{ "match": {}, "action": "NoAction" }"#).contains("is missing"));
    assert!(refused(r#"{ "match": { "h.eth.kind": 1 }, "action": "marc" }"#).contains("`mark`"));
}
