//! Parsers, controls, tables, statements.

use super::{codes, in_control, typed};
use crate::hir::{Keyset, StateRef, StmtKind, Transition};

const NOTHING: [&str; 0] = [];

fn table(properties: &str) -> String {
    format!(
        "header H {{ bit<8> a; bit<16> b; }}\n\
         control c(inout H h, inout bit<8> x) {{\n\
         action set(bit<8> v) {{ x = v; }}\n\
         action add(in bit<8> d, bit<8> v) {{ x = d + v; }}\n\
         table t {{ {properties} }}\n\
         apply {{ t.apply(); }} }}\n"
    )
}

#[test]
fn keys_are_named_for_the_control_plane() {
    let program = typed(&table(
        "key = { h.a : exact; h.isValid() : exact; h.b[7:0] : ternary; h.b & 3 : ternary;\n\
         h.a + 1 : exact @name(\"next\"); } actions = { set; }",
    ));
    let names: Vec<&str> = program.tables[0].keys.iter().map(|key| &*key.name).collect();
    assert_eq!(names, ["h.a", "h.$valid$", "h.b[7:0]", "h.b & 3", "next"]);
}

#[test]
fn a_table_without_default_runs_no_action() {
    let program = typed(&table("key = { h.a : exact; } actions = { set; }"));
    let table = &program.tables[0];
    let default = table.default_action.as_ref().expect("a default action");
    let action = &table.actions[default.action as usize];
    assert_eq!(&*program.actions[action.action.index()].name, "NoAction");
    assert!(action.default_only);
}

#[test]
fn priorities_count_down_from_the_first_entry() {
    let priorities = |properties: &str| {
        let program = typed(&table(&format!("key = {{ h.a : ternary; }} {properties}")));
        program.tables[0].entries.iter().map(|entry| entry.priority).collect::<Vec<_>>()
    };
    let actions = "actions = { set; }";
    let plain = format!("{actions} entries = {{ 1 : set(1); 2 &&& 3 : set(2); _ : set(3); }}");
    assert_eq!(priorities(&plain), [3, 2, 1]);
    let given = format!(
        "{actions} largest_priority_wins = false; priority_delta = 10;\n\
         entries = {{ priority = 10 : 1 : set(1); 2 : set(2); priority = 40 : 3 : set(3); }}"
    );
    assert_eq!(priorities(&given), [-10, -20, -40]);
}

#[test]
fn an_action_list_binds_exactly_the_parameters_with_a_direction() {
    let list = |actions: &str| codes(&table(&format!("actions = {{ {actions} }}")));
    assert_eq!(list("set; add(x);"), NOTHING);
    assert_eq!(list("add;"), ["E0702"]);
    assert_eq!(list("add(x, 1);"), ["E1002"]);
    assert_eq!(list("set(1);"), ["E1002"]);
    assert_eq!(list("set; set;"), ["E1002"]);
    assert_eq!(list("sett;"), ["E0401"]);
    assert_eq!(list("h;"), ["E0403"]);
}

#[test]
fn a_default_action_repeats_the_arguments_of_the_list() {
    let default = |action: &str| {
        codes(&table(&format!("actions = {{ add(x); set; }} default_action = {action};")))
    };
    assert_eq!(default("add(x, 5)"), NOTHING);
    assert_eq!(default("set(5)"), NOTHING);
    assert_eq!(default("add(1, 5)"), ["E1002"]);
    assert_eq!(default("set"), ["E0702"]);
    assert_eq!(default("NoAction()"), ["E1002"]);
    assert_eq!(default("5"), ["E1001"]);
}

#[test]
fn entries_must_fit_their_keys() {
    let entry = |entry: &str| {
        codes(&table(&format!(
            "key = {{ h.a : exact; h.b : lpm; }} actions = {{ set; @defaultonly NoAction; }}\n\
             const entries = {{ {entry} }}"
        )))
    };
    assert_eq!(entry("(1, 2) : set(3);"), NOTHING);
    assert_eq!(entry("(1, 0x100 &&& 0xff00) : set(3);"), NOTHING);
    assert_eq!(entry("(1, _) : set(3);"), NOTHING);
    // p4c: "Size of entry keyset must match the table key set size".
    assert_eq!(entry("_ : set(3);"), ["E1003"]);
    assert_eq!(entry("default : set(3);"), ["E1003"]);
    assert_eq!(entry("(1, 2 &&& 0x00ff) : set(3);"), ["E1003"]);
    assert_eq!(entry("(1 &&& 3, 2) : set(3);"), ["E1003"]);
    assert_eq!(entry("1 : set(3);"), ["E1003"]);
    assert_eq!(entry("(1, true) : set(3);"), ["E0501"]);
    assert_eq!(entry("(1, 2) : NoAction();"), ["E1003"]);
    assert_eq!(entry("(x, 2) : set(3);"), ["E0602"]);
    assert_eq!(entry("priority = 3 : (1, 2) : set(3);"), ["E1005"]);
}

#[test]
fn a_table_has_each_property_once_and_in_order() {
    assert_eq!(codes(&table("actions = { set; } actions = { set; }")), ["E1001", "E1002"]);
    assert_eq!(codes(&table("key = { h.a : exact; }")), ["E1001"]);
    assert_eq!(codes(&table("default_action = set(1); actions = { set; }")), ["E1001"]);
    assert_eq!(codes(&table("key = { h.a : exct; } actions = { set; }")), ["E1004"]);
    assert_eq!(codes(&table("key = { h : exact; } actions = { set; }")), ["E1004"]);
    assert_eq!(codes(&table("actions = { set; } size = x;")), ["E1001"]);
}

#[test]
fn a_switch_falls_through_to_the_next_body() {
    let program = typed(
        "control c(inout bit<8> x) { action a() {} action b() {} action d() {}\n\
         table t { actions = { a; b; d; } default_action = a(); }\n\
         apply { switch (t.apply().action_run) { a: b: { x = 1; } default: { x = 2; } }\n\
         switch (x) { 1: 2: { x = 3; } 4: default: { x = 5; } } } }\n",
    );
    let body = &program.controls[0].body;
    let StmtKind::SwitchAction { cases, default, .. } = &body[0].kind else { panic!() };
    assert_eq!((&cases[0].0[..], cases.len(), default.len()), (&[0, 1][..], 1, 1));
    let StmtKind::SwitchValue { cases, default, .. } = &body[1].kind else { panic!() };
    assert_eq!((cases[0].0.len(), cases[1].0.len(), default.len()), (2, 1, 1));
}

#[test]
fn switch_labels_are_known_and_different() {
    assert_eq!(codes(&in_control("switch (x) { 1: {} 1: {} }")), ["E0803"]);
    assert_eq!(codes(&in_control("switch (x) { y[7:0]: {} }")), ["E0602"]);
    assert_eq!(codes(&in_control("switch (x) { default: {} 1: {} }")), ["E0803"]);
    assert_eq!(codes(&in_control("switch (t) { true: {} }")), ["E0803"]);
}

fn parser(states: &str) -> String {
    format!(
        "header H {{ bit<8> a; bit<16> b; }} struct Hs {{ H h; H[2] s; }}\n\
         parser p(packet_in pkt, out Hs hs, inout bit<8> x) {{\n\
         value_set<bit<8>>(4) vs; value_set<tuple<bit<8>, bit<16>>>(4) pairs;\n\
         {states} }}\n"
    )
}

#[test]
fn select_matches_values_masks_ranges_and_value_sets() {
    let program = typed(&parser(
        "state start { pkt.extract(hs.h); transition select(hs.h.a, hs.h.b) {\n\
         (1, 2) : accept; (_, 0x800 &&& 0xff00) : accept; (1 .. 5, _) : next; pairs : accept;\n\
         default : reject; } }\n\
         state next { pkt.extract(hs.s.next); transition select(hs.s.last.a) { vs : start; 4 : accept; } }\n",
    ));
    let Transition::Select { cases, .. } = &program.parsers[0].states[0].transition else {
        panic!()
    };
    assert!(matches!(cases[1].keysets[..], [Keyset::Any, Keyset::Mask(..)]));
    assert!(matches!(cases[2].next, StateRef::State(1)));
    assert!(matches!(cases[3].keysets[..], [Keyset::ValueSet(_)]));
    assert_eq!(cases[4].keysets.len(), 2);
}

#[test]
fn a_state_without_transition_rejects() {
    let program = typed(&parser("state start { x = 1; }"));
    assert!(matches!(
        program.parsers[0].states[0].transition,
        Transition::Direct(StateRef::Reject)
    ));
}

#[test]
fn states_that_are_missing_doubled_or_never_reached_are_reported() {
    assert_eq!(codes(&parser("state begin { transition accept; }")), ["E0901"]);
    let far = "state start { transition accept; } state far { transition start; }";
    assert_eq!(codes(&parser(far)), ["W0901"]);
    assert_eq!(codes(&parser("state start { transition acept; }")), ["E0901"]);
    assert_eq!(codes(&parser("state start { transition start; }")), ["E0901"]);
    assert_eq!(
        codes(&parser("state start { transition select(x) { _ : accept; 1 : reject; } }")),
        ["W0901"]
    );
    assert_eq!(
        codes(&parser("state start { transition select(x) { (1, 2) : accept; } }")),
        ["E0902"]
    );
    assert_eq!(
        codes(&parser("state start { transition select(x) { pairs : accept; } }")),
        ["E0902"]
    );
}

#[test]
fn things_are_called_only_where_they_may_be() {
    let program = |action: &str, apply: &str| {
        format!(
            "control inner() {{ apply {{}} }}\n\
             control c(inout bit<8> x) {{ inner() i;\n\
             table t {{ actions = {{ NoAction; }} }}\n\
             action a() {{ {action} }} apply {{ {apply} }} }}\n"
        )
    };
    assert_eq!(codes(&program("", "t.apply(); i.apply(); a(); inner.apply();")), NOTHING);
    assert_eq!(codes(&program("t.apply();", "")), ["E0704"]);
    assert_eq!(codes(&program("i.apply();", "")), ["E0704"]);
    assert_eq!(codes(&program("x = 1; exit;", "exit; return;")), NOTHING);
    assert_eq!(codes("void f() { exit; }\n"), ["E0802"]);
}

#[test]
fn things_are_instantiated_only_where_they_may_be() {
    assert_eq!(codes("control i() { apply {} } i() top;\n"), ["E1101"]);
    let parser = "parser p() { state start {} }\n";
    assert_eq!(codes(&format!("{parser}control c() {{ p() q; apply {{}} }}\n")), ["E1101"]);
    let e = "extern E { E(); }\n";
    assert_eq!(codes(&format!("{e}E() top; control c() {{ E() q; apply {{}} }}\n")), NOTHING);
    assert_eq!(codes(&format!("{e}void f() {{ E() q; }}\n")), ["E1101"]);
}

#[test]
fn loops_run_over_ranges_lists_and_stacks() {
    let good = "for (bit<8> i in 0 .. 9) { x = x + i; }\n\
        for (H one in hs) { x = one.f; }\n\
        for (bit<8> i in { 1, 2, 3 }) { if (i == 2) continue; x = i; break; }\n\
        for (bit<8> i = 0, bit<8> j = 1; i < 8; i += 1, j += 1) { x = i + j; }";
    assert_eq!(codes(&in_control(good)), NOTHING);
    assert_eq!(codes(&in_control("break;")), ["E0804"]);
    assert_eq!(codes(&in_control("for (bit<8> i in x) {}")), ["E0804"]);
    assert_eq!(codes(&in_control("for (bit<8> i in hs) {}")), ["E0501"]);
}

#[test]
fn types_stand_only_where_they_have_a_meaning() {
    assert_eq!(codes("enum X { a } header H { X x; }\n"), ["E0505"]);
    assert_eq!(codes("struct S { int x; }\n"), ["E0505"]);
    assert_eq!(codes("header_union U { bit<8> x; }\n"), ["E0505"]);
    assert_eq!(codes("header G<T> { T x; } struct S { G<error> g; }\n"), ["E0505"]);
    assert_eq!(codes("struct G<T> { T x; } struct S { G g; }\n"), ["E0502"]);
    assert_eq!(codes("type varbit<8> V;\n"), ["E0507"]);
    assert_eq!(codes("enum bit<2> X { a = 4 }\n"), ["E0508"]);
    assert_eq!(codes("action a(int x) {}\n"), ["E0707"]);
    assert_eq!(codes("action a(bit<8> x, in bit<8> y) {}\n"), ["E0707"]);
}

#[test]
fn headers_and_stacks_have_their_methods_and_nothing_else_has() {
    let good = "h.setValid(); if (h.isValid()) { h.setInvalid(); } hs.push_front(1);\n\
        hs.pop_front(2); x = hs[1].f; hs[x].f = 3; t = hs.size == 4;";
    assert_eq!(codes(&in_control(good)), NOTHING);
    assert_eq!(codes(&in_control("s.setValid();")), ["E0404"]);
    assert_eq!(codes(&in_control("hs.push_front(x);")), ["E0602"]);
    assert_eq!(codes(&in_control("x = hs[4].f;")), ["E0604"]);
    assert_eq!(codes(&in_control("hs.next = h;")), ["E0704"]);
    assert_eq!(codes(&in_control("u[0] = 1;")), ["E0605"]);
}

/// A package of a generic control type, and controls for it.
fn packaged(main: &str) -> String {
    format!(
        "struct H {{ bit<8> a; }} struct M {{ bit<16> b; }}\n\
         control Pass<HH, MM>(inout HH h, inout MM m);\n\
         parser Start<HH>(out HH h);\n\
         package Switch<HH, MM>(Start<HH> s, Pass<HH, MM> one, Pass<HH, MM> two);\n\
         parser P(out H h) {{ state start {{ h = {{ 0 }}; transition accept; }} }}\n\
         control C(inout H h, inout M m) {{ apply {{ }} }}\n\
         control Empty<A, B>(inout A h, inout B m) {{ apply {{ }} }}\n\
         control Half<A>(inout A h, inout bit<8> m) {{ apply {{ }} }}\n\
         parser Any<A>(out A h) {{ state start {{ transition accept; }} }}\n{main}\n"
    )
}

fn errors(text: &str) -> Vec<&'static str> {
    let (_, _, found) = super::checked(text);
    found.iter().filter(|found| found.is_error()).map(|found| found.code).collect()
}

#[test]
fn a_generic_block_takes_its_types_from_the_package_that_it_is_given_to() {
    for main in [
        "Switch(P(), C(), Empty()) main;",
        "Switch(P(), Empty(), C()) main;",
        "Switch(Any(), C(), Empty()) main;",
        "Switch<H, M>(Any(), Empty(), Empty()) main;",
        "Switch(P(), C(), Empty<H, M>()) main;",
    ] {
        assert_eq!(errors(&packaged(main)), NOTHING, "{main}");
    }
}

#[test]
fn a_generic_block_whose_types_follow_from_nothing_is_refused() {
    assert_eq!(errors(&packaged("Switch(Any(), Empty(), Empty()) main;")), ["E0503"; 3]);
    assert_eq!(errors(&packaged("Switch(P(), C(), Half()) main;")), ["E0501"]);
    let local = "control D(inout H h, inout M m) { Empty() e; apply { e.apply(h, m); } }";
    assert_eq!(errors(&packaged(local)), ["E0503"; 2]);
}
