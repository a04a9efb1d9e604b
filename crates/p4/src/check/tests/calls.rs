//! Arguments, overloads, inference, generic functions, externs.

use super::{codes, in_control, typed};
use crate::hir::{Arg, Callee, InstanceOf, StmtKind};
use crate::types::Type;

const NOTHING: [&str; 0] = [];

#[test]
fn named_default_and_optional_arguments_come_to_their_places() {
    let program = typed(
        "extern void f(in bit<8> a, in bit<3> b = 2, @optional in bit<5> c);\n\
         control d() { apply { f(b = 1, a = 9); f(9); f(9, 2, 3); } }\n",
    );
    let shapes: Vec<String> = program.controls[0].body.iter().map(shape).collect();
    assert_eq!(shapes, ["in in absent", "in in absent", "in in in"]);
}

fn shape(statement: &crate::hir::Stmt) -> String {
    let StmtKind::Call(call) = &statement.kind else { return "no call".to_string() };
    let word = |arg: &Arg| match arg {
        Arg::In(_) => "in",
        Arg::Out(_) => "out",
        Arg::InOut(_) => "inout",
        Arg::DontCare => "_",
        Arg::Absent => "absent",
        Arg::Object(_) => "object",
    };
    call.args.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn overloads_are_distinguished_by_count_and_by_name() {
    let program = typed(
        "extern void f(in bit<8> a);\n\
         extern void f(in bit<8> a, in bit<8> b);\n\
         extern void f(in bit<8> a, in bit<8> c);\n\
         control d() { apply { f(1); f(a = 1, c = 2); } }\n",
    );
    let called = |at: usize| match &program.controls[0].body[at].kind {
        StmtKind::Call(call) => match &call.callee {
            Callee::ExternFunction(id) => id.index(),
            _ => usize::MAX,
        },
        _ => usize::MAX,
    };
    // `static_assert` of the core library is the first.
    assert_eq!([called(0), called(1)], [1, 3]);
}

#[test]
fn a_generic_function_is_copied_once_for_each_set_of_types() {
    let program = typed(
        "T same<T>(in T x) { T y = x; return y; }\n\
         control d(inout bit<8> a, inout bit<16> b) { apply {\n\
         a = same(a); a = same(a); b = same(b); b = same<bit<16>>(7); } }\n",
    );
    let returns: Vec<String> = program.functions.iter().map(|f| f.returns.to_string()).collect();
    assert_eq!(returns, ["bit<8>", "bit<16>"]);
}

#[test]
fn nothing_is_known_of_a_type_parameter() {
    assert_eq!(codes("T f<T>(in T x) { return x + 1; }\n"), ["E0601"]);
}

#[test]
fn type_arguments_follow_from_arguments_and_from_the_object() {
    let program = typed(
        "extern Register<T, I> { Register(bit<32> size); T read(in I at); }\n\
         extern RegisterAction<T, I, U> {\n\
           RegisterAction(Register<T, I> reg);\n\
           U execute(@optional in I at);\n\
           abstract void apply(inout T value, @optional out U result); }\n\
         control d(inout bit<8> x, inout bit<16> y) {\n\
           Register<bit<8>, _>(16) r;\n\
           RegisterAction<bit<8>, bit<4>, bit<16>>(r) a = {\n\
             void apply(inout bit<8> value, out bit<16> result) { result = 8w0 ++ value; } };\n\
           RegisterAction<bit<8>, bit<4>, bit<16>>(r) b = {\n\
             void apply(inout bit<8> value) { value = value + x; } };\n\
           apply { x = r.read(4w3); y = a.execute(3); y = b.execute(); } }\n",
    );
    let ty = &program.instances[0].ty;
    let Type::Extern(_, args) = ty else { panic!("{ty}") };
    assert_eq!(args[..], [Type::Bit(8), Type::Unknown]);
    assert_eq!(program.instances[1].methods[0].implements, Some(1));
    assert!(matches!(program.instances[1].of, InstanceOf::Extern { constructor: 0, .. }));
}

#[test]
fn package_types_are_inferred_from_parsers_and_controls() {
    let program = typed(
        "struct Hs { bit<8> a; } struct Ms { bit<9> b; }\n\
         parser P<H>(packet_in p, out H h);\n\
         control C<H, M>(inout H h, inout M m, @optional in bit<8> extra);\n\
         package Switch<H, M>(P<H> p, C<H, M> c, @optional C<H, M> d);\n\
         parser MyP(packet_in p, out Hs h) { state start { transition accept; } }\n\
         control MyC(inout Hs h, inout Ms m) { apply {} }\n\
         Switch(MyP(), MyC()) main;\n",
    );
    let main = &program.instances[program.main.expect("main").index()];
    let Type::Package(_, args) = &main.ty else { panic!("{}", main.ty) };
    assert_eq!(args.iter().map(Type::to_string).collect::<Vec<_>>(), ["Hs", "Ms"]);
    assert!(matches!(main.args[2], Arg::Absent));
}

#[test]
fn a_control_of_another_shape_is_refused() {
    let program = "control C(inout bit<8> x); package S(C c);\n\
        control Mine(in bit<8> x) { apply {} }\n\
        S(Mine()) main;\n";
    assert_eq!(codes(program), ["E0501"]);
}

#[test]
fn out_arguments_must_be_places_of_exactly_the_type() {
    let f = |call: &str| {
        codes(&format!("extern void f(inout bit<8> a, out bit<16> b);\n{}", in_control(call)))
    };
    assert_eq!(f("f(x, _);"), NOTHING);
    assert_eq!(f("f(h.f, h.g);"), NOTHING);
    assert_eq!(f("bit<32> w; f(w[7:0], w[31:16]);"), NOTHING);
    assert_eq!(f("f(1, _);"), ["E0605"]);
    assert_eq!(f("f(x, y);"), ["E0605"]);
    assert_eq!(f("f(_, _);"), ["E0702"]);
    assert_eq!(f("f(z, _);"), ["E0501"]);
}

#[test]
fn wrong_arguments_are_named() {
    let f = |call: &str| {
        codes(&format!("extern void f(in bit<8> a, in bit<8> b);\n{}", in_control(call)))
    };
    assert_eq!(f("f(1);"), ["E0702"]);
    assert_eq!(f("f(1, 2, 3);"), ["E0702"]);
    assert_eq!(f("f(a = 1, c = 2);"), ["E0702"]);
    assert_eq!(f("f(a = 1, a = 2);"), ["E0702"]);
    assert_eq!(f("f(a = 1, 2);"), ["E0702"]);
    assert_eq!(f("f(t, 1);"), ["E0501"]);
}

#[test]
fn directionless_parameters_of_blocks_take_only_known_values() {
    let program = |argument: &str| {
        format!(
            "control Inner(bit<8> n) {{ apply {{}} }}\n\
             control Outer(inout bit<8> x)(bit<8> k) {{ Inner() i; apply {{ i.apply({argument}); }} }}\n"
        )
    };
    assert_eq!(codes(&program("5")), NOTHING);
    assert_eq!(codes(&program("k + 1")), NOTHING);
    assert_eq!(codes(&program("x")), ["E0602"]);
}

#[test]
fn recursion_is_refused_wherever_it_begins() {
    assert_eq!(codes("bit<8> f(in bit<8> x) { return f(x); }\n"), ["E0405"]);
    assert_eq!(codes("control c() { c() inner; apply {} }\n"), ["E0405"]);
    assert_eq!(codes("struct S { S s; }\n"), ["E0405"]);
}

#[test]
fn an_inner_name_holds_only_behind_its_declaration() {
    typed("extern void tick(); control c() { action tick() { tick(); } apply { tick(); } }\n");
}

#[test]
fn a_function_must_return_on_every_path() {
    let f = |body: &str| codes(&format!("bit<8> f(in bool b) {{ {body} }}\n"));
    assert_eq!(f("if (b) return 1; else return 2;"), NOTHING);
    assert_eq!(f("if (b) return 1;"), ["E0801"]);
    assert_eq!(f("return true;"), ["E0501"]);
    assert_eq!(f("return;"), ["E0801"]);
}

#[test]
fn a_number_for_a_type_that_an_object_left_open_has_32_bits() {
    let program = typed(
        "extern R<T, I> { R(); T execute(in I index); }\n\
         control d() { R<bit<8>, _>() r; apply { r.execute(0); r.execute(7); } }\n",
    );
    for statement in &program.controls[0].body {
        let StmtKind::Call(call) = &statement.kind else { panic!("no call") };
        assert!(matches!(&call.args[0], Arg::In(value) if value.ty == Type::Bit(32)));
    }
}
