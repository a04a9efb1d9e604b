//! One access to a register in a pass: refusals, warnings, and counts at run time.

use super::*;

const COUNTER: &str = "Register<bit<32>, bit<9>>(16) reg;
    RegisterAction<bit<32>, bit<9>, bit<32>>(reg) up = {
        void apply(inout bit<32> v) { v = v + 1; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(reg) down = {
        void apply(inout bit<32> v) { v = v - 1; }
    };";

/// The codes with which two accesses placed by `apply` are refused; none if they are accepted.
fn accesses(declarations: &str, apply: &str) -> Vec<&'static str> {
    let egress = format!("{COUNTER}{declarations}");
    let text = Parts { egress: &egress, apply, ..Parts::default() }.text();
    match load_text(&text) {
        Ok(_) => Vec::new(),
        Err(error) => error.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect(),
    }
}

#[test]
fn two_accesses_one_after_the_other_are_refused() {
    assert_eq!(accesses("", "up.execute(0); down.execute(0);"), ["T0701"]);
    let action = "action both() { up.execute(0); down.execute(1); }";
    assert_eq!(accesses(action, "both();"), ["T0701"]);
    assert_eq!(accesses("", "up.execute(0); if (m.a == 1) { down.execute(0); }"), ["T0701"]);
}

/// The severities and codes of what is said about two accesses.
fn told(declarations: &str, apply: &str) -> Vec<String> {
    let egress = format!("{COUNTER}{declarations}");
    let found = match load_text(&Parts { egress: &egress, apply, ..Parts::default() }.text()) {
        Ok(loaded) => loaded.warnings,
        Err(error) => error.diagnostics,
    };
    found.iter().map(|d| format!("{} {}", d.severity, d.code)).collect()
}

#[test]
fn conditions_that_both_can_hold_are_refused_where_that_is_sure() {
    let both = |first: &str, second: &str| {
        told("", &format!("if ({first}) {{ up.execute(0); }} if ({second}) {{ down.execute(0); }}"))
    };
    let none: [&str; 0] = [];
    assert_eq!(both("m.e >= 5", "m.e >= 9"), ["error T0705"]);
    assert_eq!(both("m.e < 5", "m.e >= 5"), none);
    assert_eq!(both("m.e < 5", "!(m.e < 5)"), none);
    assert_eq!(both("m.e <= 5", "m.e > 4"), ["error T0705"]);
    // Fields of packets come in every combination; metadata may exclude each other.
    assert_eq!(both("h.ethernet.kind == 1", "e.egress_qid == 2"), ["error T0705"]);
    assert_eq!(both("m.a == 1", "m.b == 1"), ["warning T0705"]);
    assert_eq!(both("m.a == 1", "m.a + 1 == 5 || m.b == 1")[0], "warning T0705");
}

#[test]
fn the_branch_of_an_action_excludes_what_the_other_actions_did() {
    let table = "action inc() { up.execute(0); } action rest() { }
        table choose { key = { m.a : exact; } actions = { inc; rest; } size = 4; }";
    let none: [&str; 0] = [];
    let apply = "switch (choose.apply().action_run) { rest: { down.execute(0); } }";
    assert_eq!(told(table, apply), none);
    let apply = "switch (choose.apply().action_run) { inc: { down.execute(0); } }";
    assert_eq!(told(table, apply).len(), 1);
}

#[test]
fn a_write_behind_a_read_of_the_same_entry_is_one_access() {
    let none: [&str; 0] = [];
    assert_eq!(told("", "m.a = reg.read(0); reg.write(0, m.b);"), none);
    assert_eq!(told("", "m.a = reg.read(0); reg.write(0, m.a + 1);"), none);
    assert_eq!(told("", "m.a = reg.read(0); reg.write(1, m.b);"), ["error T0703"]);
    let apply = "m.a = reg.read(0); m.a = m.a + 1; reg.write(0, m.a);";
    assert_eq!(told("", apply), ["error T0703"]);
    let apply = "m.a = reg.read(0); if (m.e == 1) { reg.write(0, m.b); }";
    assert_eq!(told("", apply), ["error T0703"]);
}

#[test]
fn a_packet_meets_a_table_once() {
    let table = "action set() { m.b = 1; }
        table once { key = { m.a : exact; } actions = { set; } size = 4; }";
    let none: [&str; 0] = [];
    assert_eq!(told(table, "once.apply(); once.apply();"), ["error T1011"]);
    let apply = "if (m.e == 1) { once.apply(); } else { m.c = 1; once.apply(); }";
    assert_eq!(told(table, apply), none);
    let apply = "if (m.e == 1) { once.apply(); } if (m.e == 2) { once.apply(); }";
    assert_eq!(told(table, apply), none);
}

#[test]
fn accesses_in_exclusive_branches_are_accepted() {
    let none: [&str; 0] = [];
    let apply = "if (m.a == 1) { up.execute(0); } else { down.execute(0); }";
    assert_eq!(accesses("", apply), none);
    let apply = "if (m.a == 1) { up.execute(0); exit; } down.execute(0);";
    assert_eq!(accesses("", apply), none);
    let apply = "if (m.a == 1) { up.execute(0); } if (m.a == 2) { down.execute(0); }";
    assert_eq!(accesses("", apply), none);
    let apply = "if (m.a == 1) { up.execute(0); return; } else if (m.b == 3) { down.execute(0); }";
    assert_eq!(accesses("", apply), none);
    let table = "action inc() { up.execute(0); } action dec() { down.execute(0); }
        table choose { key = { m.a : exact; } actions = { inc; dec; } size = 4; }";
    assert_eq!(accesses(table, "choose.apply();"), none);
}

#[test]
fn a_condition_that_changed_in_between_excludes_nothing() {
    let apply = "if (m.a == 1) { up.execute(0); } m.a = m.b; if (m.a == 2) { down.execute(0); }";
    assert_eq!(told("", apply), ["warning T0705"]);
    let table = "action inc() { up.execute(0); }
        table choose { key = { m.a : exact; } actions = { inc; } size = 4; }";
    assert_eq!(accesses(table, "choose.apply(); down.execute(0);"), ["T0705"]);
}

#[test]
fn a_second_access_that_only_the_packet_shows_does_nothing_and_is_counted() {
    let parts = Parts {
        egress: "Register<bit<32>, bit<9>>(16) count;
                 RegisterAction<bit<32>, bit<9>, bit<32>>(count) up = {
                     void apply(inout bit<32> v, out bit<32> r) { v = v + 1; r = v; }
                 };",
        apply: "m.a = (bit<32>)h.ethernet.dst[7:0]; m.b = (bit<32>)h.ethernet.dst[15:8];
                if (m.a == 1) { up.execute(0); } m.a = m.b; if (m.a == 2) { up.execute(0); }",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    let mut run = |low: u64| {
        let mut bytes = frame().bytes;
        bytes[4..6].copy_from_slice(&(low as u16).to_be_bytes());
        plane.egress(&leaving(1, 0), Packet { bytes, ..frame() });
        let faults = plane.faults().second_accesses.clone();
        (plane.register_mut("count").unwrap().get(0).unwrap()[0], faults.count)
    };
    assert_eq!([run(0x0001), run(0x0200), run(0x0201)], [(1, 0), (2, 0), (3, 1)]);
    let told = plane.faults().report(None);
    assert_eq!((told.len(), told[0].kind), (1, sojourn_target::FaultKind::SecondAccess.name()));
    assert!(told[0].first.contains("Eg.count"), "{}", told[0].first);
}

#[test]
fn one_table_action_uses_its_registers_at_one_index() {
    let none: [&str; 0] = [];
    let table = |second: &str| {
        format!(
            "Register<bit<32>, bit<9>>(16) other;
             RegisterAction<bit<32>, bit<9>, bit<32>>(other) set = {{
                 void apply(inout bit<32> v) {{ v = 1; }}
             }};
             action both() {{ up.execute(e.egress_port); set.execute({second}); }}
             table choose {{ key = {{ m.a : exact; }} actions = {{ both; }} size = 4; }}"
        )
    };
    assert_eq!(accesses(&table("e.egress_port"), "choose.apply();"), none);
    assert_eq!(accesses(&table("(bit<9>)m.e"), "choose.apply();"), ["T0704"]);
}

#[test]
fn a_register_of_both_passes_is_refused() {
    let text = Parts {
        types: "Register<bit<32>, bit<9>>(16) shared;",
        ingress_apply: "shared.write(0, 1);",
        apply: "m.a = shared.read(0);",
        ..Parts::default()
    };
    assert_eq!(text.refused()[0].0, "T0702");
}
