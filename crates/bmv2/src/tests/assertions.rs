//! `assert`, `assume`, `log_msg`; and programs that cannot be loaded.

use super::{Parts, frame};
use sojourn_packet::dataplane::DataPlane;

#[test]
fn a_failed_assertion_drops_the_packet_and_is_reported() {
    for call in ["assert", "assume"] {
        let text = format!("{call}(h.eth.kind != 7);");
        let mut pass = Parts { ingress: ("", &text), ..Parts::default() }.load();
        assert!(pass.both(&frame(8, &[])).is_some());
        assert!(pass.both(&frame(7, &[])).is_none());
        assert!(pass.both(&frame(8, &[])).is_some());
        let faults = pass.plane.faults();
        assert_eq!((faults.failed_claims.count, faults.halted.count), (1, 0));
        let first = faults.first_drop().map(|text| &**text);
        assert_eq!(first, Some(format!("{call} failed").as_str()));
    }
}

#[test]
fn a_message_has_its_values_in_place_of_the_braces() {
    let parts = Parts {
        ingress: (
            "",
            r#"log_msg("plain"); log_msg("kind {} from port {}", { h.eth.kind, s.ingress_port });"#,
        ),
        ..Parts::default()
    };
    let mut pass = parts.load();
    pass.ingress(&frame(2048, &[]));
    let lines: Vec<String> =
        pass.plane.take_log().lines.into_iter().map(|line| line.text).collect();
    assert_eq!(lines, ["plain", "kind 2048 from port 3"]);
    assert!(pass.plane.take_log().lines.is_empty());
}

fn refused(parts: Parts<'_>) -> (&'static str, String) {
    let error = parts.try_load(1).expect_err("a program that is refused");
    let found = error.diagnostics.into_iter().find(|diagnostic| diagnostic.is_error());
    found.map(|diagnostic| (diagnostic.code, diagnostic.message)).unwrap()
}

#[test]
fn an_extern_of_the_programs_own_is_refused_by_name() {
    let parts = Parts {
        types: "extern void mystery(in bit<8> a);",
        ingress: ("", "mystery(1);"),
        ..Parts::default()
    };
    let (code, message) = refused(parts);
    assert_eq!(code, "V0201");
    assert_eq!(message, "the function mystery is not an extern of v1model");
}

#[test]
fn an_array_that_no_machine_could_hold_is_refused() {
    let parts = Parts { ingress: ("register<bit<32>>(0xffffffff) all;", ""), ..Parts::default() };
    let (code, message) = refused(parts);
    assert_eq!(code, "V0202");
    assert!(message.contains("`size` is 4294967295"), "{message}");
}

#[test]
fn a_division_is_by_a_constant_power_of_two() {
    let asked = |does: &str| {
        Parts { ingress: ("bit<8> three = 3;", does), ..Parts::default() }
            .try_load(1)
            .map_or_else(|error| error.diagnostics[0].code, |_| "")
    };
    for does in ["m.one = m.both / 3;", "m.one = m.both % 5;", "m.one = m.both / three;"] {
        assert_eq!(asked(does), "V0205", "{does}");
    }
    for does in [
        "m.one = m.both / 4;",
        "m.one = m.both % 8;",
        "m.one = 240 / 7;",
        "m.one = 8w0 / m.both;",
        "m.one = 8w0 % m.both;",
    ] {
        assert_eq!(asked(does), "", "{does}");
    }
}

#[test]
fn a_header_is_whole_bytes() {
    let asked = |fields: &str, headers: &str| {
        let types = format!("header odd_h {{ {fields} }}");
        Parts { types: &types, headers, ..Parts::default() }
            .try_load(1)
            .map_or_else(|error| error.diagnostics[0].code, |_| "")
    };
    assert_eq!(asked("bit<12> vlan; bit<4> rest;", "odd_h odd;"), "");
    assert_eq!(asked("bit<12> vlan;", "odd_h odd;"), "V0206");
    assert_eq!(asked("bit<12> vlan;", "odd_h[2] odd;"), "V0206");
    assert_eq!(asked("bit<12> vlan;", ""), "", "nobody has one");
}

#[test]
fn entries_of_a_table_with_exact_keys_have_no_priorities() {
    let kind = |kind: &str| {
        let declared = format!(
            "action a() {{ }} table t {{ key = {{ h.eth.kind: {kind}; }} actions = {{ a; }}
             entries = {{ priority = 10: 7: a(); }} }}"
        );
        let parts = Parts { ingress: (&declared, "t.apply();"), ..Parts::default() };
        parts.try_load(1).map_or_else(|error| error.diagnostics[0].code, |_| "")
    };
    assert_eq!(kind("ternary"), "");
    assert_ne!(kind("exact"), "");
}

#[test]
fn every_rule_is_found_by_its_code() {
    for rule in super::super::rules::ALL {
        assert_eq!(
            sojourn_target::Targets(&[&crate::Bmv2]).rule(&rule.code.to_lowercase()),
            Some(*rule)
        );
        assert!(rule.explanation().starts_with(rule.code));
    }
}
