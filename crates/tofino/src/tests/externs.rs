//! Hashes, random numbers, meters, filters, selectors, ports' metadata, small functions.

use super::*;
use sojourn_control::RuntimeControl;
use sojourn_control::{Checkpoint, FilterCell, Operation, PortMetadata};
use sojourn_externs::filter::{FilterSpec, Filtering, LpfSpec, WredSpec};
use sojourn_externs::hash_setting::{HashPart, HashSetting};

#[test]
fn hashes_join_their_fields() {
    let hash = |algorithm: &str, width: u32, data: &str| {
        let egress = format!("Hash<bit<{width}>>({algorithm}) hash;");
        let apply = format!("m.a = 0x31323334; h.ethernet.dst = (bit<48>)hash.get({data});");
        finding(
            super::tests::egress(Parts { egress: &egress, apply: &apply, ..Parts::default() })
                .packet,
        )
    };
    let identity = "HashAlgorithm_t.IDENTITY";
    assert_eq!(hash(identity, 16, "{ 2w0, e.egress_port, 5w9 }"), 5 << 5 | 9);
    let digits = "{ m.a, 40w0x3536373839 }";
    assert_eq!(hash("HashAlgorithm_t.CRC32", 32, digits), 0xcbf4_3926);
    assert_eq!(hash("HashAlgorithm_t.CRC16", 16, digits), 0xbb3d);
    assert_eq!(hash("HashAlgorithm_t.XOR16", 16, "{ m.a, 8w0xff }"), 0x3132 ^ 0x3334 ^ 0xff00);
}

#[test]
fn a_custom_polynomial_is_used_as_it_is_given() {
    let parts = Parts {
        egress: "CRCPolynomial<bit<32>>(0x04C11DB7, false, false, false, 0xFFFFFFFF, 0xFFFFFFFF)
                     bzip2;
                 Hash<bit<32>>(HashAlgorithm_t.CUSTOM, bzip2) hash;",
        apply: "h.ethernet.dst = (bit<48>)hash.get({ 72w0x313233343536373839 });",
        ..Parts::default()
    };
    assert_eq!(finding(egress(parts).packet), 0xfc89_1918, "CRC-32/BZIP2 of \"123456789\"");
}

#[test]
fn a_named_crc_repeats_itself_in_a_wider_hash() {
    for (width, expected) in [(32, 0xbb3d_bb3d), (24, 0x3d_bb3d), (8, 0x3d)] {
        let egress = format!("Hash<bit<{width}>>(HashAlgorithm_t.CRC16) hash;");
        let apply = "h.ethernet.dst = (bit<48>)hash.get({ 72w0x313233343536373839 });";
        let parts = Parts { egress: &egress, apply, ..Parts::default() };
        assert_eq!(finding(super::tests::egress(parts).packet), expected, "{width} bits");
    }
}

#[test]
fn a_polynomial_may_be_as_wide_as_a_selectors_hash() {
    let egress = "CRCPolynomial<bit<82>>(82w0x0308c0111011401440411, true, false, true, 0, 0) darc;
                  Hash<bit<82>>(HashAlgorithm_t.CUSTOM, darc) hash;";
    let apply = "h.ethernet.dst = (bit<48>)hash.get({ 72w0x313233343536373839 })[31:0];";
    let parts = Parts { egress, apply, ..Parts::default() };
    // CRC-82/DARC of "123456789" is 09ea83f625023801fd612.
    assert_eq!(finding(super::tests::egress(parts).packet), 0x801f_d612);
}

#[test]
fn a_symmetric_hash_does_not_distinguish_its_two_fields() {
    let hash = |annotation: &str, a: u32, b: u32| {
        let egress = format!("{annotation} Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;");
        let apply = format!(
            "m.a = {a}; m.b = {b}; m.c = 7;
             h.ethernet.dst = (bit<48>)hash.get({{ 3w5, m.a, m.c, m.b }});"
        );
        let parts = Parts { egress: &egress, apply: &apply, ..Parts::default() };
        finding(super::tests::egress(parts).packet)
    };
    let (a, b) = (0x4583_94ae, 0x7282_f3a0);
    let symmetric = "@symmetric(\"m.a\", \"m.b\")";
    assert_eq!(hash(symmetric, a, b), hash(symmetric, b, a));
    assert_eq!(hash(symmetric, a, b), hash("", 0, a ^ b), "both have the place of the later");
    assert_ne!(hash("", a, b), hash("", b, a));
}

#[test]
fn a_symmetric_hash_of_a_field_that_it_does_not_get_is_refused() {
    for (names, why) in [
        ("(\"m.a\", \"m.c\")", "@symmetric: `m.c` is no field that this hash is given"),
        ("(\"m.a\", \"m.d\")", "@symmetric: `m.a` and `m.d` are no two fields of one width"),
        ("(\"m.a\")", "@symmetric has the names of two fields as strings"),
    ] {
        let egress = format!("@symmetric{names} Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;");
        let apply = "h.ethernet.dst = (bit<48>)hash.get({ m.a, m.b, m.d });";
        let parts = Parts { egress: &egress, apply, ..Parts::default() };
        assert_eq!(parts.refused(), [("T0803", why.to_owned())]);
    }
    let egress = "@symmetric(\"m.a\", \"m.b\") Hash<bit<16>>(HashAlgorithm_t.XOR16) hash;";
    let apply = "h.ethernet.dst = (bit<48>)hash.get({ m.a, m.b });";
    let parts = Parts { egress, apply, ..Parts::default() };
    assert_eq!(parts.refused(), [("T0803", "@symmetric needs a CRC".to_owned())]);
}

#[test]
fn a_hash_of_nothing_is_refused() {
    let parts = Parts {
        egress: "Hash<bit<16>>(HashAlgorithm_t.IDENTITY) hash;",
        apply: "h.ethernet.dst = (bit<48>)hash.get({});",
        ..Parts::default()
    };
    assert_eq!(parts.refused(), [("T0803", "a hash of no fields".to_owned())]);
}

#[test]
fn random_numbers_repeat_with_the_seed() {
    let text = Parts {
        egress: "Random<bit<32>>() dice;",
        apply: "h.ethernet.dst = (bit<48>)dice.get();",
        ..Parts::default()
    }
    .text();
    let draw = |seed| {
        let options = LoadOptions { seed, ..LoadOptions::default() };
        let mut plane = load_text_with(&text, options).unwrap().plane;
        let mut one = || finding(plane.egress(&leaving(1, 0), frame()).packet);
        [one(), one()]
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    assert_ne!(draw(1)[0], draw(1)[1]);
}

#[test]
fn meters_colour_by_configured_rates() {
    let parts = Parts {
        egress: "Meter<bit<9>>(16, MeterType_t.PACKETS) meter;",
        apply: "h.ethernet.dst = (bit<48>)meter.execute(e.egress_port);",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let spec = sojourn_externs::meter::MeterSpec { cir: 1, cbs: 1, pir: 1, pbs: 2 };
    let meters = vec![MeterCell { name: "meter".into(), index: 3, spec }];
    plane.configure(&ControlPlane { meters, ..ControlPlane::default() }).unwrap();
    let mut ask = |port, now| finding(plane.egress(&leaving(port, now), frame()).packet);
    assert_eq!([ask(3, 0), ask(3, 0), ask(3, 0)], [0, 1, 3]);
    assert_eq!([ask(4, 0), ask(4, 0)], [0, 0], "a cell without a configuration is green");
    assert_eq!(ask(3, 2_000_000_000), 0);
}

fn filter(name: &str, index: usize, spec: FilterSpec) -> ControlPlane {
    let filters = vec![FilterCell { name: name.into(), index, spec }];
    ControlPlane { filters, ..ControlPlane::default() }
}

#[test]
fn a_low_pass_filter_follows_what_packets_bring() {
    let parts = Parts {
        egress: "Lpf<bit<32>, bit<9>>(16) average;",
        apply: "h.ethernet.dst = (bit<48>)average.execute(h.ethernet.src[31:0], e.egress_port);",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let (gain, decay) = (1e6, 1e6);
    let spec = LpfSpec { filtering: Filtering::Sample, gain, decay, scale: 0 };
    plane.configure(&filter("average", 3, FilterSpec::Lpf(spec))).unwrap();
    let mut ask = |port, now, value: u8| {
        let mut packet = frame();
        packet.bytes[6..12].copy_from_slice(&[0, 0, 0, 0, 0, value]);
        finding(plane.egress(&leaving(port, now), packet).packet)
    };
    assert_eq!([ask(3, 0, 200), ask(3, 0, 0)], [200, 200]);
    assert!((60..90).contains(&ask(3, 1_000_000, 0)));
    assert_eq!([ask(4, 0, 200), ask(4, 1_000, 0)], [200, 0], "a cell that nobody has set");
}

#[test]
fn early_detection_says_which_packets_to_drop() {
    let parts = Parts {
        egress: "Wred<bit<19>, bit<9>>(16, 1, 0) early;",
        apply: "h.ethernet.dst = (bit<48>)early.execute(e.deq_qdepth, e.egress_port);",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let spec = WredSpec { time_constant: 1.0, min: 100, max: 200, probability: 0.5 };
    plane.configure(&filter("early", 3, FilterSpec::Wred(spec))).unwrap();
    let mut now = 0;
    let mut dropped = |depth| {
        let one = |_| {
            now += 1_000;
            let input = EgressInput { dequeue_depth: depth, ..leaving(3, now) };
            finding(plane.egress(&input, frame()).packet)
        };
        (0..1_000).map(one).sum::<u64>()
    };
    assert_eq!(dropped(100), 0);
    assert!((200..300).contains(&dropped(150)));
    assert_eq!(dropped(201), 1_000);
}

#[test]
fn ports_bring_what_the_control_plane_gives_them() {
    let text = Parts {
        types: "struct port_t { bit<4> kind; bit<12> group; }",
        ingress_apply: "h.ethernet.dst = (bit<48>)m.word; t.ucast_egress_port = 5;",
        ..Parts::default()
    }
    .text()
    .replace(
        "p.advance(PORT_METADATA_SIZE);",
        "port_t port = port_metadata_unpack<port_t>(p); m.word = (bit<16>)port.group;",
    );
    let mut plane = load_text(&text).unwrap().plane;
    let port_metadata = vec![PortMetadata { port: 5, value: 0x7abc_0000_0000_0000 }];
    plane.configure(&ControlPlane { port_metadata, ..ControlPlane::default() }).unwrap();
    let mut ask = |port| finding(plane.ingress(&arriving(port), frame()).packet);
    assert_eq!([ask(5), ask(6)], [0xabc, 0]);
    let port_metadata = vec![PortMetadata { port: 512, value: 1 }];
    let beyond = ControlPlane { port_metadata, ..ControlPlane::default() };
    assert!(plane.configure(&beyond).unwrap_err().to_string().contains("512"));
}

#[test]
fn small_functions_compute_their_definitions() {
    for (expression, expected) in [
        ("min(8w200, 8w100)", 100),
        ("max(8w200, 8w100)", 200),
        ("(bit<8>)min(-8s3, 8s5)", 0xfd),
        ("sizeInBits(h.ethernet)", 112),
        ("sizeInBytes(h.ethernet)", 14),
    ] {
        assert_eq!(observed(leaving(1, 0), expression), expected, "{expression}");
    }
}

#[test]
fn an_action_selector_chooses_a_member_by_hash() {
    let parts = Parts {
        ingress: "Hash<bit<14>>(HashAlgorithm_t.IDENTITY) hash;
                  ActionProfile(64) profile;
                  ActionSelector(profile, hash, SelectorMode_t.FAIR, 8, 8) selector;
                  action send(bit<9> port) { t.ucast_egress_port = port; }
                  table choose {
                      key = { i.ingress_port : exact; h.ethernet.kind : selector; }
                      actions = { send; }
                      implementation = selector;
                      size = 16;
                  }",
        ingress_apply: "choose.apply();",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let member = |id, port: u64| ProfileMember {
        id,
        action: "send".into(),
        args: [("port".to_owned(), Number::from(port))].into(),
    };
    let mut control = entries("choose", "i.ingress_port", &[5], "send");
    control.tables[0].entries[0].action = None;
    control.tables[0].entries[0].group = Some(1);
    control.action_profiles = vec![ProfileEntries {
        name: "selector".into(),
        members: vec![member(1, 11), member(2, 12), member(3, 13)],
        groups: vec![(1, vec![(1, true), (2, false), (3, true)])],
    }];
    plane.configure(&control).unwrap();
    let mut ask = |kind: u8| {
        let mut packet = frame();
        packet.bytes[13] = kind;
        plane.ingress(&arriving(5), packet).admission.unicast.unwrap().0
    };
    // Ethernet type 0x0c00 + kind, of which the lowest 14 bits are the hash; two members are up.
    assert_eq!([ask(0), ask(1), ask(2), ask(3)], [11, 13, 11, 13]);
}

#[test]
fn a_port_may_have_less_metadata_than_its_64_bits() {
    let text =
        Parts { types: "struct port_t { bit<4> kind; }", ..Parts::default() }.text().replace(
            "p.advance(PORT_METADATA_SIZE);",
            "port_t port = port_metadata_unpack<port_t>(p); m.tag = (bit<8>)port.kind;",
        );
    assert!(load_text(&text).is_ok());
}

#[test]
fn the_control_plane_sets_a_hash_while_packets_pass() {
    let egress = "Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;";
    let apply = "m.a = 0x31323334;
                 h.ethernet.dst = (bit<48>)hash.get({ m.a, h.ethernet.src })[15:0];";
    let mut plane = Parts { egress, apply, ..Parts::default() }.loaded().plane;
    let find = |plane: &mut Tofino| finding(plane.egress(&leaving(5, 2_000), frame()).packet);
    let first = find(&mut plane);
    let inputs = [0x3132_3334_u64, 0x0607_0809_0a0b].map(Into::into);
    assert_eq!(plane.hash("hash", &inputs).unwrap().value, Number::from(first));

    let part = HashPart { input: 0, start: 0, length: 32, order: 1 };
    let setting = HashSetting { inputs: Some(vec![part]), rotate: 4, ..HashSetting::default() };
    let name = "hash".to_owned();
    let set = Operation::SetHash { name: name.clone(), setting: setting.clone() };
    let mut before = Checkpoint::default();
    before.execute(&mut plane, &set, Time(1)).unwrap();
    // CRC-32 of "1234" is 0x9be3e0a3; sixteen bits of it are used.
    assert_eq!(find(&mut plane), 0x0a3e);
    assert_eq!(plane.hash("hash", &inputs).unwrap().setting, setting);
    before.restore(&mut plane);
    assert_eq!(find(&mut plane), first);

    let wrong = HashPart { input: 2, ..part };
    let setting = HashSetting { inputs: Some(vec![wrong]), ..HashSetting::default() };
    let refused = plane.set_hash("hash", &setting).unwrap_err().to_string();
    assert_eq!(refused, "hash `hash`: the hash has no input 2");
    assert_eq!(find(&mut plane), first);
}
