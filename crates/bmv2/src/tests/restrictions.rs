//! Programs that p4c refuses for bmv2 (V0203, V0207 to V0225), with relatives that it takes.

use super::Parts;

/// The codes of the errors about a program.
fn codes(parts: Parts<'_>) -> Vec<&'static str> {
    let Err(error) = parts.try_load_with_warnings(1) else { return Vec::new() };
    error.diagnostics.iter().filter(|found| found.is_error()).map(|found| found.code).collect()
}

const SUM: &str = "update_checksum(true, {h.note.a, h.note.b}, h.note.c, HashAlgorithm.csum16);";

#[test]
fn checksum_controls_call_checksum_functions_only() {
    let valid = "update_checksum(h.note.isValid() && h.note.a == 1, {h.note.d, 16w5}, h.note.c,
        HashAlgorithm.csum16);";
    let conditional = format!("if (h.note.isValid()) {{ {SUM} }}");
    let assigned = format!("m.none = 1; {SUM}");
    let computed = "update_checksum(true, {h.note.a + 1}, h.note.c, HashAlgorithm.csum16);";
    for (compute, right) in [
        (SUM, &[][..]),
        (valid, &[]),
        (&conditional, &["V0207"]),
        (&assigned, &["V0207"]),
        (computed, &["V0207"]),
        (
            "update_checksum(true, {h.note.a, h.note.c}, h.note.c, HashAlgorithm.csum16);",
            &["V0207"],
        ),
        (
            "update_checksum_with_payload(true, {h.note.a, h.note.c}, h.note.c,
                HashAlgorithm.csum16);",
            &[],
        ),
        ("update_checksum(true, {h.note, h.note.c}, h.note.c, HashAlgorithm.csum16);", &[]),
        ("update_checksum(true, {h.note.d, true}, h.note.c, HashAlgorithm.csum16);", &["V0207"]),
        (
            "bit<16> old = h.note.c;
            update_checksum(true, {old, h.note.d}, h.note.c, HashAlgorithm.csum16);",
            &[],
        ),
        ("update_checksum(true, {h.note.d[15:0]}, h.note.c, HashAlgorithm.csum16);", &["V0207"]),
        ("update_checksum(true, {(bit<16>)h.note.a}, h.note.c, HashAlgorithm.csum16);", &["V0207"]),
    ] {
        assert_eq!(codes(Parts { compute, ..Parts::default() }), right, "{compute}");
    }
    let verify = "if (h.note.a == 1) {
        verify_checksum(true, {h.note.a}, h.note.c, HashAlgorithm.csum16); }";
    assert_eq!(codes(Parts { verify, ..Parts::default() }), ["V0207"]);
    assert_eq!(codes(Parts { ingress: ("", SUM), ..Parts::default() }), ["V0207"]);
    assert_eq!(codes(Parts { egress: ("", SUM), ..Parts::default() }), ["V0207"]);
}

#[test]
fn a_deparser_has_no_condition_and_makes_no_header() {
    for (emit, right) in [
        ("if (h.note.isValid()) { p.emit(h.note); }", &["V0208"][..]),
        ("p.emit((eth_t){1, 2, 3});", &["V0208"]),
        ("headers_t own; p.emit(own.note);", &["V0208"]),
        ("p.emit({h.eth, h.note});", &["E0702"]),
        ("p.emit(h);", &[]),
    ] {
        assert_eq!(codes(Parts { emit, ..Parts::default() }), right, "{emit}");
    }
}

#[test]
fn an_entry_has_a_number_for_each_exact_key() {
    for (keys, entry, right) in [
        ("h.note.a: exact;", "3", &[][..]),
        ("m.truth: exact;", "true", &[]),
        ("h.note.a: ternary;", "_", &[]),
        ("h.note.a: exact;", "_", &["V0223"]),
        ("h.note.a: exact; h.note.b: ternary;", "(_, 2)", &["V0223"]),
        ("s.parser_error: exact;", "error.NoMatch", &["V0223"]),
        ("s.parser_error: ternary; h.note.b: exact;", "(error.NoMatch, 2)", &["V0223"]),
        ("s.parser_error: ternary;", "_", &[]),
        ("h.note.a: ternary; h.note.b: ternary;", "_", &["E1003"]),
    ] {
        let declared = format!(
            "action go() {{ m.none = 1; }}
            table t {{ key = {{ {keys} }} actions = {{ go; }}
                const entries = {{ {entry}: go(); }} }}"
        );
        let metadata = "bool truth;";
        let ingress = (&*declared, "t.apply();");
        let parts = Parts { metadata, ingress, ..Parts::default() };
        assert_eq!(codes(parts), right, "{keys} {entry}");
    }
}

#[test]
fn the_actions_of_one_table_read_a_direct_meter_into_one_field() {
    for (one, two, property, right) in [
        ("m.read(h.note.a);", "m.read(h.note.a);", "meters = m;", &[][..]),
        ("m.read(h.note.a);", "", "meters = m;", &[]),
        ("m.read(h.note.a);", "m.read(h.note.b);", "meters = m;", &["V0224"]),
        ("m.read(h.note.a); m.read(h.note.b);", "", "meters = m;", &["V0224"]),
        ("", "", "meters = m;", &["V0224"]),
        ("m.read(h.note.a);", "", "", &["V0224"]),
    ] {
        let declared = format!(
            "direct_meter<bit<8>>(MeterType.bytes) m;
            action one() {{ {one} }}
            action two() {{ {two} }}
            table t {{ key = {{ h.note.c: exact; }} actions = {{ one; two; }} {property} }}"
        );
        let parts = Parts { ingress: (&declared, "t.apply();"), ..Parts::default() };
        assert_eq!(codes(parts), right, "{one} {two} {property}");
    }
}

#[test]
fn a_parser_uses_no_field_of_the_next_element() {
    for (parser, right) in [
        ("p.extract(h.tags.next);", &[][..]),
        ("h.tags.next.setValid();", &[]),
        ("h.tags.next = h.tags[0];", &[]),
        ("h.tags[0] = h.tags.next;", &[]),
        ("p.extract(h.tags.next); m.one = h.tags.last.one;", &[]),
        ("p.extract(h.tags.next); h.tags.push_front(1);", &["E0704"]),
        ("h.tags.next.one = 5;", &["V0225"]),
        ("h.tags.next = { 1, 2 };", &["V0225"]),
        ("h.note.a = h.tags.next.one;", &["V0225"]),
        ("if (h.tags.next.isValid()) { h.note.a = 1; }", &["V0225"]),
    ] {
        let types = "header tag_t { bit<8> one; bit<8> two; }";
        let state = format!("{parser} transition accept;");
        let headers = "tag_t[2] tags;";
        let parts = Parts { types, headers, parser: &state, ..Parts::default() };
        assert_eq!(codes(parts), right, "{parser}");
    }
}

const TABLES: &str = "action go() { m.none = 1; }
    table t { key = { h.note.a: exact; } actions = { go; } }
    table u { key = { h.note.b: exact; } actions = { go; } }";

#[test]
fn a_path_meets_a_table_once_and_tables_in_one_order() {
    for (apply, right) in [
        ("t.apply(); u.apply();", &[][..]),
        ("if (m.one == 1) { t.apply(); } else { t.apply(); } u.apply();", &[]),
        ("t.apply(); t.apply();", &["V0209"]),
        ("if (m.one == 1) { t.apply(); } if (m.one == 2) { t.apply(); }", &["V0209"]),
        ("if (m.one == 1) { t.apply(); u.apply(); } else { u.apply(); t.apply(); }", &["V0209"]),
    ] {
        let parts = Parts { ingress: (TABLES, apply), ..Parts::default() };
        assert_eq!(codes(parts), right, "{apply}");
    }
}

#[test]
fn a_direct_counter_belongs_to_one_table() {
    let declared = "direct_counter(CounterType.packets) c; action go() { m.none = 1; }
        table t { key = { h.note.a: exact; } actions = { go; } counters = c; }
        table u { key = { h.note.b: exact; } actions = { go; } counters = c; }";
    let codes_of = |apply| codes(Parts { ingress: (declared, apply), ..Parts::default() });
    assert_eq!(codes_of("t.apply(); u.apply();"), ["V0210"]);
    assert_eq!(codes_of("t.apply();"), [""; 0], "p4c drops a table that is not applied");
}

#[test]
fn a_loop_counts_by_itself() {
    for (apply, right) in [
        ("for (bit<8> i = 0; i < 3; i = i + 1) { h.note.d = h.note.d + 1; }", &[][..]),
        ("for (bit<8> i in 0 .. 3) { h.note.d = h.note.d + 1; }", &["V0211"]),
        ("for (bit<8> i in 0 .. h.note.a) { h.note.d = h.note.d + 1; }", &["V0211"]),
        ("for (bit<8> i in {1, 2}) { h.note.a = h.note.a + i; }", &["V0211"]),
    ] {
        assert_eq!(codes(Parts { ingress: ("", apply), ..Parts::default() }), right, "{apply}");
    }
}

#[test]
fn a_table_has_one_lpm_key() {
    let table = |second| {
        format!(
            "action go() {{ m.none = 1; }}
            table t {{ key = {{ h.note.d: lpm; h.note.e: {second}; }} actions = {{ go; }} }}"
        )
    };
    for (second, right) in [("exact", &[][..]), ("ternary", &[]), ("lpm", &["V0212"])] {
        let declared = table(second);
        let parts = Parts { ingress: (&declared, "t.apply();"), ..Parts::default() };
        assert_eq!(codes(parts), right, "{second}");
    }
}

#[test]
fn a_shift_counts_with_8_bits() {
    for (apply, right) in [
        ("h.note.d = h.note.d << h.note.a;", &[][..]),
        ("h.note.d = h.note.d << (bit<8>)h.note.c;", &[]),
        ("h.note.d = h.note.d >> 3;", &[]),
        ("h.note.d = h.note.d >> 300;", &["V0213"]),
        ("h.note.d = h.note.d >> 16w3;", &["V0213"]),
        ("const bit<16> k = 3; h.note.d = h.note.d << k;", &["V0213"]),
        ("h.note.d = h.note.d << 8w3;", &[]),
        ("h.note.d = h.note.d << h.note.c;", &["V0213"]),
    ] {
        assert_eq!(codes(Parts { ingress: ("", apply), ..Parts::default() }), right, "{apply}");
    }
}

#[test]
fn a_register_holds_numbers() {
    for (cell, right) in [
        ("bit<32>", &[][..]),
        ("int<8>", &[]),
        ("Kind", &[]),
        ("bool", &["V0214"]),
        ("pair_t", &["V0214"]),
    ] {
        let declared = format!("register<{cell}>(4) r; {cell} v;");
        let parts = Parts {
            types: "struct pair_t { bit<8> a; bit<8> b; } enum Kind { one, two }",
            ingress: (&declared, "r.read(v, 1);"),
            ..Parts::default()
        };
        assert_eq!(codes(parts), right, "{cell}");
    }
}

#[test]
fn a_digest_sends_a_struct() {
    let types = "struct seen_t { bit<8> a; }";
    for (apply, right) in
        [("digest<seen_t>(1, { h.note.a });", &[][..]), ("digest<note_t>(1, h.note);", &["V0215"])]
    {
        let parts = Parts { types, ingress: ("", apply), ..Parts::default() };
        assert_eq!(codes(parts), right, "{apply}");
    }
}

#[test]
fn a_hash_is_of_a_list_a_struct_or_a_header() {
    for (data, right) in [
        ("{ h.note.a }", &[][..]),
        ("{ h.note.a, 8w1 }", &[]),
        ("h.note", &[]),
        ("h", &[]),
        ("h.note.a", &["V0222"]),
        ("32w5", &["V0222"]),
    ] {
        let apply = format!("hash(m.both, HashAlgorithm.crc16, 8w0, {data}, 8w16);");
        let parts = Parts { ingress: ("", &apply), ..Parts::default() };
        assert_eq!(codes(parts), right, "{data}");
    }
}

#[test]
fn a_header_has_one_field_of_variable_size() {
    for (fields, right) in [("varbit<32> a;", &[][..]), ("varbit<32> a; varbit<16> b;", &["V0216"])]
    {
        let types = format!("header long_t {{ bit<8> size; {fields} }}");
        let parts = Parts { types: &types, headers: "long_t long;", ..Parts::default() };
        assert_eq!(codes(parts), right, "{fields}");
    }
}

#[test]
fn the_same_step_follows_a_table_wherever_it_is_applied() {
    for (apply, right) in [
        ("if (m.one == 1) { t.apply(); } else { t.apply(); } u.apply();", &[][..]),
        ("if (m.one == 1) { m.both = 1; t.apply(); } else { t.apply(); }", &[]),
        ("if (m.one == 1) { t.apply(); return; } t.apply();", &[]),
        ("if (m.one == 1) { t.apply(); return; } t.apply(); m.both = 1;", &["V0217"]),
        ("if (m.one == 1) { t.apply(); exit; } t.apply();", &["V0217"]),
        ("if (m.one == 1) { t.apply(); exit; } else { t.apply(); exit; }", &["V0217"]),
        ("if (m.one == 1) { t.apply(); } else { t.apply(); } exit;", &[]),
        ("if (m.one == 1) { t.apply(); go(); } else { t.apply(); go(); }", &["V0217"]),
        ("for (bit<8> i = 0; i < 4; i = i + 1) { t.apply(); }", &[]),
        ("if (m.one == 1) { t.apply(); u.apply(); } else { t.apply(); }", &["V0217"]),
        ("if (m.one == 1) { t.apply(); m.both = 1; } else { t.apply(); }", &["V0217"]),
        ("if (m.one == 1) { if (t.apply().hit) { m.both = 1; } } else { t.apply(); }", &["V0217"]),
        // p4c leaves out what does nothing.
        ("if (m.one == 1) { t.apply(); if (m.both == 1) { } } else { t.apply(); }", &[]),
        ("if (m.one == 1) { t.apply(); m.both = m.both; } else { t.apply(); }", &[]),
        ("if (m.one == 1) { t.apply(); bit<8> unread = 3; } else { t.apply(); }", &[]),
        // Both distinguish two outcomes, by the same steps or by others.
        (
            "if (m.one == 1) { if (t.apply().hit) { u.apply(); } }
          else { if (t.apply().miss) { u.apply(); } }",
            &[],
        ),
        ("if (m.one == 1) { if (t.apply().hit) { } } else { t.apply(); }", &["V0217"]),
        (
            "bool hit; if (m.one == 1) { hit = t.apply().hit; } else { hit = t.apply().hit; }
          if (hit) { m.both = 1; }",
            &["V0217"],
        ),
        (
            "if (m.one == 1) { switch (t.apply().action_run) { go: { u.apply(); } } }
          else { switch (t.apply().action_run) { go: { u.apply(); } default: { } } }",
            &[],
        ),
        (
            "if (m.one == 1) { switch (t.apply().action_run) { go: { u.apply(); } } }
          else { if (t.apply().hit) { u.apply(); } }",
            &["V0217"],
        ),
        (
            "if (m.one == 1) { switch (t.apply().action_run) { default: { u.apply(); } } }
          else { t.apply(); u.apply(); }",
            &["V0217"],
        ),
    ] {
        let parts = Parts { ingress: (TABLES, apply), ..Parts::default() };
        assert_eq!(codes(parts), right, "{apply}");
    }
}

const SHARED: &str = "control Part(inout headers_t h) {
    action go() { }
    table t { key = { h.note.a: exact; } actions = { go; } }
    apply { ";

#[test]
fn a_control_applied_twice_keeps_its_tables_but_has_its_statements_twice() {
    let apply = "if (m.one == 1) { part.apply(h); } else { part.apply(h); } m.both = 1;";
    for (body, right) in [
        ("t.apply();", &[][..]),
        ("if (h.note.b == 3) { return; } t.apply();", &[]),
        ("t.apply(); h.note.d = 1;", &["V0217"]),
        ("if (h.note.b == 3) { exit; } h.note.d = 1;", &["V0221"]),
    ] {
        let part = format!("{SHARED}{body} }} }}");
        let parts = Parts { controls: &part, ingress: ("Part() part;", apply), ..Parts::default() };
        assert_eq!(codes(parts), right, "{body}");
    }
}

#[test]
fn a_copy_is_made_in_its_pass_by_a_constant_list() {
    for (call, ingress, egress) in [
        ("clone(CloneType.I2E, 5);", &[][..], &["V0218"][..]),
        ("clone(CloneType.E2E, 5);", &["V0218"], &[]),
        ("clone_preserving_field_list(CloneType.I2E, 5, 1);", &[], &["V0218"]),
        (
            "clone_preserving_field_list(CloneType.I2E, 5, h.note.a);",
            &["V0203"],
            &["V0218", "V0203"],
        ),
        ("resubmit_preserving_field_list(1);", &[], &["V0218"]),
        ("recirculate_preserving_field_list(1);", &["V0218"], &[]),
    ] {
        assert_eq!(codes(Parts { ingress: ("", call), ..Parts::default() }), ingress, "{call}");
        assert_eq!(codes(Parts { egress: ("", call), ..Parts::default() }), egress, "{call}");
    }
}

#[test]
fn action_data_are_numbers() {
    for (ty, right) in [("bit<8>", &[][..]), ("int<8>", &[]), ("bool", &["V0219"])] {
        let declared = format!(
            "action go({ty} p) {{ m.none = 1; }}
            table t {{ key = {{ h.note.a: exact; }} actions = {{ go; }} }}"
        );
        let parts = Parts { ingress: (&declared, "t.apply();"), ..Parts::default() };
        assert_eq!(codes(parts), right, "{ty}");
    }
}

#[test]
fn tables_of_a_selector_choose_by_the_same_keys() {
    for (one, key, right) in [
        ("h.note.b", "h.note.b", &[][..]),
        ("h.note.b", "h.note.c", &["V0220"]),
        // A copy of a computed key belongs to its table.
        ("h.note.c + 1", "h.note.c + 1", &["V0220"]),
        ("h.note.c[7:0]", "h.note.c[7:0]", &["V0220"]),
        ("h.note.isValid()", "h.note.isValid()", &["V0220"]),
    ] {
        let (one, key) =
            (format!("{one}: selector @name(\"k\")"), format!("{key}: selector @name(\"k\")"));
        let declared = format!(
            "action go() {{ m.none = 1; }}
            action_selector(HashAlgorithm.crc16, 32w16, 32w14) s;
            table t {{ key = {{ h.note.a: exact; {one}; }} actions = {{ go; }}
                implementation = s; }}
            table u {{ key = {{ h.note.a: exact; {key}; }} actions = {{ go; }}
                implementation = s; }}"
        );
        let parts = Parts { ingress: (&declared, "t.apply(); u.apply();"), ..Parts::default() };
        assert_eq!(codes(parts), right, "{key}");
    }
}
