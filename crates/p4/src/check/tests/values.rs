//! Constants, widths, casts, operators.

use super::{codes, in_control, typed};
use crate::hir::{ExprKind, StmtKind, Value};
use num_bigint::BigInt;

/// The number that `variable` is set to at the beginning of an action.
fn folded(ty: &str, expression: &str) -> BigInt {
    let program = typed(&format!("action a() {{ {ty} v = {expression}; }}"));
    let action = program.actions.last().expect("the action");
    match &action.body[0].kind {
        StmtKind::Declare(_, Some(value)) => match &value.kind {
            ExprKind::Const(Value::Int(n)) => n.clone(),
            ExprKind::Const(Value::Bool(b)) => BigInt::from(*b),
            other => panic!("not folded: {other:?}"),
        },
        other => panic!("not a declaration: {other:?}"),
    }
}

#[test]
fn arithmetic_without_a_width_is_exact_until_it_meets_one() {
    assert_eq!(folded("bit<8>", "(1 << 100) >> 98"), BigInt::from(4));
    assert_eq!(folded("bit<128>", "(1 << 128) - 1"), (BigInt::from(1) << 128) - 1);
}

#[test]
fn arithmetic_with_a_width_wraps_at_once() {
    assert_eq!(folded("bit<8>", "(8w255 + 1) >> 1"), BigInt::from(0));
    assert_eq!(folded("int<8>", "8s127 + 1"), BigInt::from(-128));
}

#[test]
fn numbers_without_a_width_have_bits_too() {
    assert_eq!(folded("bit<16>", "0x2001 ^ 1 << 4"), BigInt::from(0x2011));
    assert_eq!(folded("bit<8>", "(-1 & 0xf0) | 3"), BigInt::from(0xf3));
    assert_eq!(codes("const int a = 1 |+| 2;"), ["E0601"]);
}

#[test]
fn a_number_without_a_width_becomes_a_type_of_its_own_by_itself() {
    let with = |text: &str| codes(&format!("type bit<9> Port; const Port zero = 0; {text}"));
    let none: [&str; 0] = [];
    assert_eq!(with("action a(inout Port p) { p = 511; }"), none);
    assert_eq!(with("bool f(in Port p) { return p == 3 || 4 == p; }"), none);
    assert_eq!(
        with("Port f() { return 7; } action a(inout Port p) { p = p == 9 ? f() : 1; }"),
        none
    );
    assert_eq!(with("const Port large = 512;"), ["W0501"]);
    assert_eq!(with("action a(inout Port p) { p = 9w5; }"), ["E0501"]);
    assert_eq!(with("action a(inout Port p) { p = p + 1; }"), ["E0601"]);
}

#[test]
fn concatenation_puts_the_left_side_on_top() {
    assert_eq!(folded("bit<16>", "8w0x12 ++ 8w0x34"), BigInt::from(0x1234));
}

#[test]
fn a_slice_of_a_constant_is_a_constant() {
    assert_eq!(folded("bit<4>", "(16w0xabcd)[11:8]"), BigInt::from(0xb));
    assert_eq!(folded("bit<4>", "(16w0xabcd)[8+:4]"), BigInt::from(0xb));
}

#[test]
fn a_cast_of_a_negative_number_keeps_its_bits() {
    assert_eq!(folded("bit<8>", "(bit<8>) -8s1"), BigInt::from(255));
    assert_eq!(folded("int<16>", "(int<16>) -8s1"), BigInt::from(-1));
}

#[test]
fn fields_and_elements_of_constants_are_constants() {
    let program = "struct P { bit<8> a; bit<8> b; }\n\
        const P p = { b = 2, a = 1 };\n\
        const tuple<bit<8>, P> t = { 7, { 8, 9 } };\n\
        action a() { bit<(p.a)> v = 1; bit<(t[1].b)> w = 0x1ff; }";
    let program = typed(program);
    let widths: Vec<String> = program.vars.iter().map(|var| var.ty.to_string()).collect();
    assert_eq!(widths, ["bit<1>", "bit<9>"]);
}

#[test]
fn sizes_follow_the_wire_format() {
    let types = "header V { bit<4> a; varbit<12> b; }\n\
        struct W { V[3] v; bool c; }\n\
        header_union U { V v; }\n";
    let asserts = "const bool a = static_assert(W.minSizeInBits() == 13, \"\");\n\
        const bool b = static_assert(W.maxSizeInBits() == 49, \"\");\n\
        const bool c = static_assert(W.maxSizeInBytes() == 7, \"\");\n\
        const bool d = static_assert(U.maxSizeInBits() == 16, \"\");\n";
    typed(&format!("{types}{asserts}"));
}

#[test]
fn dots_are_filled_with_default_values() {
    let program = "struct I { bit<4> x; bool y; }\n\
        struct O { bit<8> a; I i; error e; }\n\
        const O o = { a = 5, ... };\n\
        const bool check = static_assert(o == { 5, { 0, false }, error.NoError }, \"\");\n";
    typed(program);
}

#[test]
fn operands_of_different_width_or_sign_are_refused() {
    for wrong in ["x + y", "x + z", "y ++ 1", "x << z", "~1", "5 |+| 3", "1 << x", "!x", "-t"] {
        assert_eq!(codes(&in_control(&format!("bool q = ({wrong}) == 1;"))), ["E0601"], "{wrong}");
    }
}

#[test]
fn operands_that_the_language_joins_are_taken() {
    for right in
        ["x + 1", "e + 1", "x << y", "x << 9w3", "x |+| 3", "x * 2", "x & E.two", "x ++ 8s1 == 5"]
    {
        let found = codes(&in_control(&format!("bool q = ({right}) == 1;")));
        let expected: &[&str] = if right.contains("== 5") { &["E0601"] } else { &[] };
        assert_eq!(found, expected, "{right}");
    }
}

#[test]
fn casts_change_width_or_sign_but_not_both() {
    for (cast, good) in [
        ("(bit<16>) x", true),
        ("(int<8>) x", true),
        ("(int<16>) x", false),
        ("(bit<8>) e", true),
        ("(E) x", true),
        ("(Port) 9w1", true),
        ("(Port) x", false),
        ("(bit<9>) p", true),
        ("(bool) 1w1", true),
        ("(bool) x", false),
        ("(S) { 1, true }", true),
        ("(H) {#}", true),
        ("(S) {#}", false),
    ] {
        let found = codes(&in_control(&format!("tuple<bit<1>> q; bool r = {cast} == {cast};")));
        assert_eq!(found.is_empty(), good, "{cast}: {found:?}");
    }
}

#[test]
fn an_enum_becomes_a_number_but_a_number_no_enum() {
    assert_eq!(codes(&in_control("x = E.one; x = e;")), [] as [&str; 0]);
    assert_eq!(codes(&in_control("e = 1;")), ["E0501"]);
    assert_eq!(codes(&in_control("e = E.one + 1;")), ["E0501"]);
}

#[test]
fn a_number_that_does_not_fit_is_cut_with_a_warning() {
    assert_eq!(codes(&in_control("x = 256;")), ["W0501"]);
    assert_eq!(codes(&in_control("x = x << 8;")), ["W0501"]);
}

#[test]
fn structs_tuples_and_stacks_compare_with_literals() {
    assert_eq!(codes(&in_control("t = s == { 1, true }; t = u == { 1, true };")), [] as [&str; 0]);
    assert_eq!(codes(&in_control("t = s == { 1, 1 };")), ["E0501"]);
}

#[test]
fn a_moving_slice_is_read_and_written_with_shifts() {
    let program =
        typed("control c(inout bit<32> w, in bit<5> at) { apply { w[at+:4] = w[at+:4] + 1; } }\n");
    assert!(matches!(program.controls[0].body[0].kind, StmtKind::Block(_)));
}

#[test]
fn an_enum_member_has_the_type_of_its_enum_or_none() {
    let said = |value: &str| codes(&format!("enum bit<16> E {{ A = {value} }}"));
    assert_eq!(said("1"), [] as [&str; 0]);
    assert_eq!(said("16w1"), [] as [&str; 0]);
    for value in ["8w1", "16s1", "17w1", "(bit<8>)5"] {
        assert_eq!(said(value).len(), 1, "{value}");
    }
}

#[test]
fn action_data_shifts_a_number_of_the_width_that_is_wanted() {
    let said = |value: &str| {
        codes(&format!(
            "control c(inout bit<32> x, in bit<8> y) {{\n\
             action a(bit<8> n) {{ x = {value}; }}\n\
             table t {{ key = {{ y : exact; }} actions = {{ a; }} }} apply {{ t.apply(); }} }}\n"
        ))
    };
    for value in ["1 << n", "x & ((1 << n) - 1)", "(bit<32>)(1 << n)"] {
        assert_eq!(said(value), [] as [&str; 0], "{value}");
    }
    assert_eq!(said("1 << y"), ["E0601"]);
    assert_eq!(said("~(1 << n)"), ["E0601"]);
}
