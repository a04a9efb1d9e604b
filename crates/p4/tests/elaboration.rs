//! Tests of inlining and instances: order of evaluation, copy-in and copy-out, exit through several
//! levels, names for the control plane.

use crate::common::{Machine, Recorder, try_compile};
use sojourn_p4::interp::Halt;
use sojourn_p4::ir::{ObjectArg, PackageArg, StmtKind};

const HEAD: &str = "#include <core.p4>
    struct S { bit<8> a; bit<8> b; bit<8> c; bit<8> d; }
    control Test(inout S s);
    package Main(Test t);
    extern bit<8> next(in bit<8> tag);
    extern void both(inout bit<8> x, in bit<8> y);
";

/// Runs `Main(C()) main` and gives `s.a` to `s.d`, and the calls of externs.
fn run(text: &str, input: [u128; 4]) -> ([u128; 4], Vec<String>) {
    let mut machine = Machine::new(&format!("{HEAD}{text} Main(C()) main;"));
    for (name, value) in ["s.a", "s.b", "s.c", "s.d"].into_iter().zip(input) {
        machine.set(0, name, value);
    }
    let mut recorder = Recorder::default();
    machine.control_with(0, &mut recorder).expect("the program runs to its end");
    (["s.a", "s.b", "s.c", "s.d"].map(|name| machine.get(0, name)), recorder.calls)
}

#[test]
fn operands_are_evaluated_from_left_to_right_and_kept() {
    let text = "control C(inout S s) { apply {
        s.b = 5;
        s.c = s.b + next(1) + s.b;
        s.d = next(2) - next(3);
    } }";
    let (s, calls) = run(text, [0; 4]);
    assert_eq!(calls, ["next 1", "next 2", "next 3"]);
    assert_eq!(s[2], 110);
    assert_eq!(s[3], 200u128.wrapping_sub(300) & 255);
}

#[test]
fn an_operand_read_before_a_call_changes_it_keeps_its_old_value() {
    let text = "bit<8> bump(inout bit<8> x) { x = x + 1; return x; }
    control C(inout S s) { apply { s.b = s.a + bump(s.a) + s.a; } }";
    let (s, _) = run(text, [10, 0, 0, 0]);
    assert_eq!(s, [11, 10 + 11 + 11, 0, 0]);
}

#[test]
fn the_right_side_of_and_or_and_the_conditional_is_only_evaluated_if_needed() {
    let text = "control C(inout S s) { apply {
        if (s.a == 1 && next(1) == 100) { s.b = 1; }
        if (s.a == 0 || next(2) == 200) { s.c = 1; }
        s.d = s.a == 0 ? next(3) : next(4);
    } }";
    let (s, calls) = run(text, [0; 4]);
    assert_eq!((s, calls), ([0, 0, 1, 100], vec!["next 3".to_string()]));
    let (s, calls) = run(text, [1, 0, 0, 0]);
    assert_eq!(s, [1, 1, 1, 300 & 255]);
    assert_eq!(calls, ["next 1", "next 2", "next 4"]);
}

#[test]
fn an_extern_gets_the_values_its_arguments_had_before_later_ones_changed_them() {
    // The specification's own example (section 6.8): f(a, g(a)).
    let text = "control C(inout S s) { apply { both(s.a, bump(s.a)); s.b = s.a; } }
    ";
    let text = format!("bit<8> bump(inout bit<8> x) {{ x = x + 1; return x; }} {text}");
    let (s, calls) = run(&text, [7, 0, 0, 0]);
    assert_eq!(calls, ["both 7 8"]);
    assert_eq!(s[..2], [100, 100]);
}

#[test]
fn a_plain_assignment_of_a_result_needs_no_temporary() {
    let text =
        format!("{HEAD} control C(inout S s) {{ apply {{ s.a = next(1); }} }} Main(C()) main;");
    let machine = Machine::new(&text);
    assert!(machine.program().units[0].slots.iter().all(|slot| !slot.temporary));
}

#[test]
fn a_struct_assigned_from_its_own_parts_is_read_before_it_is_written() {
    let text = "control C(inout S s) { apply {
        s = { s.b, s.a, s.d, s.c };
        tuple<bit<8>, bit<8>> t = { s.a, s.b };
        t = { t[1], t[0] };
        s.c = t[0];
        s.d = t[1];
    } }";
    assert_eq!(run(text, [1, 2, 3, 4]).0, [2, 1, 1, 2]);
}

#[test]
fn results_are_copied_out_also_when_the_callee_exits() {
    let text = "
    control Inner(inout bit<8> x, inout bit<8> y) {
        action leave() { x = x + 1; exit; }
        table t { actions = { leave; } default_action = leave(); }
        apply {
            x = 20;
            if (y == 1) { exit; }
            if (y == 2) { t.apply(); }
            x = 30;
        }
    }
    control Middle(inout S s) {
        Inner() inner;
        // One argument twice: they have to be copied, and the last copy wins.
        apply { inner.apply(s.a, s.a); s.c = 1; }
    }
    control C(inout S s) {
        Middle() middle;
        apply { middle.apply(s); s.d = 1; }
    }";
    assert_eq!(run(text, [1, 0, 0, 0]).0, [1, 0, 0, 0], "y is copied out behind x");
    assert_eq!(run(text, [2, 0, 0, 0]).0, [2, 0, 0, 0]);
    assert_eq!(run(text, [3, 0, 0, 0]).0, [3, 0, 1, 1]);
    let text = text.replace("inner.apply(s.a, s.a)", "inner.apply(s.b, s.a)");
    assert_eq!(run(&text, [1, 0, 0, 0]).0, [1, 20, 0, 0]);
    assert_eq!(run(&text, [2, 0, 0, 0]).0, [2, 21, 0, 0]);
    assert_eq!(run(&text, [3, 0, 0, 0]).0, [3, 30, 1, 1]);
}

#[test]
fn an_exit_in_a_table_of_a_control_applied_twice_goes_on_from_where_it_was_applied() {
    let text = "
    control Inner(inout bit<8> x) {
        action leave() { x = x + 1; exit; }
        action stay() { x = x + 2; }
        table t { key = { x : exact; } actions = { leave; stay; } default_action = stay();
            const entries = { 5 : leave(); } }
        apply { t.apply(); x = x * 2; }
    }
    control C(inout S s) {
        Inner() inner;
        apply { inner.apply(s.a); s.c = 1; inner.apply(s.b); s.d = 1; }
    }";
    assert_eq!(run(text, [1, 1, 0, 0]).0, [6, 6, 1, 1]);
    assert_eq!(run(text, [5, 1, 0, 0]).0, [6, 1, 0, 0]);
    assert_eq!(run(text, [1, 5, 0, 0]).0, [6, 6, 1, 0]);
}

#[test]
fn two_instances_of_one_control_type_are_separate() {
    let text = "
    control Add(inout bit<8> x)(bit<8> by) {
        action add() { x = x + by; }
        table t { actions = { add; } default_action = add(); }
        apply { t.apply(); if (by == 3) { x = x + 100; } }
    }
    control C(inout S s) {
        Add(1) one;
        @name(\"three\") Add(3) renamed;
        apply { one.apply(s.a); renamed.apply(s.a); one.apply(s.b); }
    }";
    assert_eq!(run(text, [0, 0, 0, 0]).0[..2], [104, 1]);
    let machine = Machine::new(&format!("{HEAD}{text} Main(C()) main;"));
    let names: Vec<&str> = machine.program().tables.iter().map(|table| &*table.name).collect();
    assert_eq!(names, ["C.one.t", "C.three.t"]);
    assert_eq!(&*machine.program().tables[1].actions[0].name, "C.three.add");
}

#[test]
fn an_index_chosen_at_run_time_is_evaluated_once_and_may_lie_outside() {
    let text = "
    header H { bit<8> f; }
    bit<8> out_and_change(out bit<8> x, inout bit<8> i) { x = 9; i = i + 1; return 0; }
    control C(inout S s) {
        H[3] h;
        apply {
            h[0] = { 10 }; h[1] = { 11 }; h[2] = { 12 };
            s.b = out_and_change(h[s.a].f, s.a);
            s.b = h[0].f;
            s.c = h[s.a].f;
            h[200].setInvalid();
            h[s.d].f = 77;
            s.d = h[2].f;
        }
    }";
    let text = text.replace("h[200].setInvalid();", "");
    assert_eq!(run(&text, [0, 0, 0, 200]).0, [1, 9, 11, 12]);
    assert_eq!(run(&text, [0, 0, 0, 2]).0, [1, 9, 11, 77]);
}

#[test]
fn a_header_of_a_union_becomes_the_only_valid_one() {
    let text = "
    header A { bit<8> x; }
    header B { bit<16> y; }
    header_union U { A a; B b; }
    void fill(out B b) { b.setValid(); b.y = 0x0102; }
    control C(inout S s) {
        U u;
        U[2] us;
        apply {
            u.a = { 5 };
            if (u.a.isValid() && !u.b.isValid()) { s.b = 1; }
            fill(u.b);
            if (!u.a.isValid() && u.b.isValid() && u.isValid()) { s.c = u.b.y[7:0]; }
            us[s.a].a.setValid();
            us[s.a].b.setValid();
            if (!us[1].a.isValid() && us[1].b.isValid() && !us[0].isValid()) { s.d = 1; }
        }
    }";
    assert_eq!(run(text, [1, 0, 0, 0]).0, [1, 1, 2, 1]);
}

#[test]
fn keys_with_effects_are_computed_in_order_before_the_lookup() {
    let text = "
    bit<8> bump(inout bit<8> x) { x = x + 1; return x; }
    control C(inout S s) {
        action hit(bit<8> v) { s.d = v; }
        action none() { s.d = 99; }
        table t {
            key = { s.a : exact; bump(s.a) : exact @name(\"bumped\"); s.a : exact @name(\"after\"); }
            actions = { hit; none; }
            default_action = none();
            const entries = { (1, 2, 2) : hit(7); }
        }
        apply { t.apply(); }
    }";
    assert_eq!(run(text, [1, 0, 0, 0]).0, [2, 0, 0, 7]);
    assert_eq!(run(text, [2, 0, 0, 0]).0, [3, 0, 0, 99]);
}

#[test]
fn a_method_of_an_object_sees_the_control_around_it() {
    let text = "
    extern Op { Op(bit<8> start); void run(); abstract void apply(inout bit<8> v); }
    control Inner(inout S s)(bit<8> step) {
        Op(step) op = { void apply(inout bit<8> v) { s.b = s.a + step; v = s.b; } };
        apply { op.run(); s.c = s.b; }
    }
    control C(inout S s) { Inner(4) inner; apply { inner.apply(s); } }";
    let (s, calls) = run(text, [1, 0, 0, 0]);
    assert_eq!((s, calls), ([1, 5, 5, 0], vec!["run".to_string()]));
    let machine = Machine::new(&format!("{HEAD}{text} Main(C()) main;"));
    let object = &machine.program().objects[0];
    assert_eq!((&*object.name, &*object.args[0].0), ("C.inner.op", "start"));
    assert!(matches!(object.args[0].1, ObjectArg::Const(_)));
}

#[test]
fn a_method_keeps_its_text_as_the_program_wrote_it() {
    let text = "
    extern Op { Op(); void run(); abstract void apply(inout bit<32> v, out bit<32> r); }
    control C(inout S s) {
        Op() op = { void apply(inout bit<32> v, out bit<32> r) {
            r = v;
            if ((int<32>)(v - 5) >= 0) { v = v - 5; } else { v = 0; }
        } };
        apply { op.run(); }
    }";
    let machine = Machine::new(&format!("{HEAD}{text} Main(C()) main;"));
    let body = &machine.program().objects[0].methods[0].body;
    let shape: Vec<&str> = body
        .iter()
        .map(|stmt| match &stmt.kind {
            StmtKind::Set(..) => "set",
            StmtKind::If { .. } => "if",
            _ => "other",
        })
        .collect();
    assert_eq!(shape, ["set", "if"]);
}

#[test]
fn packages_within_packages_share_what_is_given_twice() {
    let text = "
    struct S { bit<8> a; }
    control Test(inout S s);
    package Pipe(Test t, bit<8> n);
    package Main(Pipe first, Pipe second, @optional Pipe third);
    control C(inout S s) { action a() {} table t { actions = { a; } default_action = a(); } apply { t.apply(); } }
    Pipe(C(), 3) one;
    Pipe(C(), 4) two;
    Main(one, two) main;";
    let machine = Machine::new(text);
    let program = machine.program();
    assert_eq!(program.units.len(), 2);
    let main = program.main.as_ref().expect("main");
    let PackageArg::Package(first) = &main.args[0].1 else { panic!("a pipe") };
    assert_eq!((&*first.name, &*first.of), ("one", "Pipe"));
    assert!(matches!(main.args[2].1, PackageArg::Absent));
    let names: Vec<&str> = program.tables.iter().map(|table| &*table.name).collect();
    assert_eq!(names, ["C.t", "two.C.t"]);
}

#[test]
fn a_loop_without_end_is_stopped() {
    let text = "control C(inout S s) { apply { for (;true;) { s.a = s.a + 1; } } }";
    let mut machine = Machine::new(&format!("{HEAD}{text} Main(C()) main;"));
    let stopped = machine.control_with(0, &mut Recorder::default());
    assert!(matches!(stopped, Err(Halt::StepLimit { limit: 100_000 })), "{stopped:?}");
}

#[test]
fn calls_that_double_at_every_level_are_refused() {
    let mut text = HEAD.to_owned();
    text.push_str("void f0(inout bit<8> x) { x = x + 1; }\n");
    for level in 1..40 {
        let below = level - 1;
        text.push_str(&format!("void f{level}(inout bit<8> x) {{ f{below}(x); f{below}(x); }}\n"));
    }
    text.push_str("control C(inout S s) { apply { f39(s.a); } } Main(C()) main;");
    let error = try_compile(&text).expect_err("it is too large");
    assert!(error.to_string().contains("too large"), "{error}");
}

#[test]
fn a_frame_that_is_too_large_is_refused() {
    let variables: String = (0..20).map(|n| format!("H[60000] h{n};")).collect();
    let text = format!(
        "{HEAD} header H {{ bit<8> f; }} control C(inout S s) {{ {variables} apply {{}} }} Main(C()) main;"
    );
    let error = try_compile(&text).expect_err("it is too large");
    assert!(error.to_string().contains("frame"), "{error}");
}

/// Diagnostics of a program whose `level`s each use the one below twice, 40 deep.
fn doubled(first: &str, level: impl Fn(usize) -> String, control: &str) -> String {
    let levels: String = (1..40).map(level).collect();
    let text =
        format!("{HEAD}{first}\n{levels} control C(inout S s) {{ {control} }} Main(C()) main;");
    try_compile(&text).expect_err("it is too large").to_string()
}

#[test]
fn calls_and_instances_that_double_without_a_statement_are_refused() {
    for said in [
        doubled(
            "void f0(inout bit<8> x) { }",
            |n| format!("void f{n}(inout bit<8> x) {{ f{0}(x); f{0}(x); }}\n", n - 1),
            "apply { f39(s.a); }",
        ),
        doubled(
            "bit<8> f0(in bit<8> x) { return x; }",
            |n| format!("bit<8> f{n}(in bit<8> x) {{ return f{0}(x) + f{0}(x); }}\n", n - 1),
            "apply { s.a = f39(s.a); }",
        ),
        doubled(
            "control c0(inout bit<8> x) { apply { } }",
            |n| {
                let below = n - 1;
                format!(
                    "control c{n}(inout bit<8> x) {{ c{below}() a; c{below}() b; apply {{ }} }}\n"
                )
            },
            "c39() c; apply { c.apply(s.a); }",
        ),
    ] {
        assert!(said.contains("inlining makes this program too large"), "{said}");
        assert!(said.contains("the limit is"), "{said}");
    }
}

#[test]
fn a_control_with_type_parameters_is_copied_for_each_set_of_types() {
    let text = "control put<T>(inout T x)(T by) { T old; apply { old = x; x = by ^ old; } }
    control twice<T>(inout T x)(T by) { put<T>(by) i; put<T>(by) j; apply { i.apply(x); j.apply(x); i.apply(x); } }
    struct Pair { bit<4> high; bit<4> low; }
    control C(inout S s) {
        twice<bit<8>>(3) t; twice<bit<4>>(5) u; put(8w1) v;
        apply { t.apply(s.a); v.apply(s.b); bit<4> low = s.c[3:0]; u.apply(low); s.c[3:0] = low; }
    }";
    // `^` is not known of every type: the body as written is checked as well.
    assert!(try_compile(&format!("{HEAD}{text} Main(C()) main;")).is_err());
    let text = text.replace("by ^ old", "by");
    let (s, _) = run(&text, [9, 8, 0xff, 7]);
    assert_eq!(s, [3, 1, 0xf5, 7]);
}

#[test]
fn a_default_with_type_parameters_gets_those_of_the_package() {
    let text = "#include <core.p4>
    control Any<T>(inout T t);
    control nothing<T>(inout T t) { apply {} }
    package Both<T>(Any<T> first, Any<T> second = nothing<T>());
    struct S { bit<8> a; }
    control C(inout S s) { apply { s.a = 4; } }
    Both(C()) main;";
    let program = crate::common::compile(text);
    let units: Vec<usize> = program.units.iter().map(|unit| unit.slots.len()).collect();
    assert_eq!(units, [1, 1]);
    let error = try_compile(&text.replace("Both(C())", "Both(nothing())"));
    assert!(format!("{}", error.expect_err("no types")).contains("cannot be inferred"));
}
