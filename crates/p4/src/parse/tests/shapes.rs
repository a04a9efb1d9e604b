//! Tests of the syntax trees that the parser builds from valid programs.

use super::{codes, program};
use crate::ast::*;

/// An expression in prefix form, so that its shape can be seen.
fn shape(expr: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(shape).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        ExprKind::Integer(literal) => literal.value.to_string(),
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::This => "this".into(),
        ExprKind::Dots => "...".into(),
        ExprKind::Name { name, global } => {
            format!("{}{}", if *global { "." } else { "" }, name.text)
        }
        ExprKind::Type(ty) => format!("type {}", type_shape(ty)),
        ExprKind::ErrorMember(name) => format!("error.{}", name.text),
        ExprKind::Member(base, name) => format!("{}.{}", shape(base), name.text),
        ExprKind::Index(base, index) => format!("(index {} {})", shape(base), shape(index)),
        ExprKind::Slice { base, high, low } => {
            format!("(slice {} {} {})", shape(base), shape(high), shape(low))
        }
        ExprKind::SliceFrom { base, low, width } => {
            format!("(slice+ {} {} {})", shape(base), shape(low), shape(width))
        }
        ExprKind::List(items) => format!("{{{}}}", list(items)),
        ExprKind::KeyValueList { entries, has_dots } => {
            let pair = |(name, value): &(Name, Expr)| format!("{}={}", name.text, shape(value));
            let pairs: Vec<String> = entries.iter().map(pair).collect();
            format!("{{{}{}}}", pairs.join(" "), if *has_dots { " ..." } else { "" })
        }
        ExprKind::InvalidHeader => "{#}".into(),
        ExprKind::Paren(inner) => format!("[{}]", shape(inner)),
        ExprKind::Unary(op, operand) => format!("({op:?} {})", shape(operand)),
        ExprKind::Binary(op, a, b) => format!("({op:?} {} {})", shape(a), shape(b)),
        ExprKind::Mux(c, a, b) => format!("(? {} {} {})", shape(c), shape(a), shape(b)),
        ExprKind::Cast(ty, operand) => format!("(as {} {})", type_shape(ty), shape(operand)),
        ExprKind::Call { callee, type_args, args } => {
            let types: Vec<String> =
                type_args.iter().map(|ty| format!(" <{}>", type_shape(ty))).collect();
            let arg = |arg: &Argument| {
                let name =
                    arg.name.as_ref().map_or(String::new(), |name| format!("{}=", name.text));
                format!(" {name}{}", arg.value.as_ref().map_or("_".into(), shape))
            };
            let args: String = args.iter().map(arg).collect();
            format!("(call {}{}{args})", shape(callee), types.concat())
        }
        ExprKind::Error => "error".into(),
    }
}

fn type_shape(ty: &TypeRef) -> String {
    let list = |items: &[TypeRef]| items.iter().map(type_shape).collect::<Vec<_>>().join(",");
    match &ty.kind {
        TypeRefKind::Bit(None) => "bit".into(),
        TypeRefKind::Bit(Some(width)) => format!("bit:{}", shape(width)),
        TypeRefKind::Int(width) => format!("int:{}", shape(width)),
        TypeRefKind::VarBit(width) => format!("varbit:{}", shape(width)),
        TypeRefKind::Named { name, global } => {
            format!("{}{}", if *global { "." } else { "" }, name.text)
        }
        TypeRefKind::Specialized { name, args, .. } => format!("{}<{}>", name.text, list(args)),
        TypeRefKind::Stack(element, size) => format!("{}[{}]", type_shape(element), shape(size)),
        TypeRefKind::Tuple(items) => format!("tuple<{}>", list(items)),
        TypeRefKind::List(element) => format!("list<{}>", type_shape(element)),
        other => format!("{other:?}"),
    }
}

/// The shape of the constant `c`, which follows `before`.
fn constant_after(before: &str, expression: &str) -> String {
    let program = program(&format!("{before}\nconst bit<8> c = {expression};"));
    match &program.declarations.last().unwrap().kind {
        DeclarationKind::Constant { value, .. } => shape(value),
        other => panic!("no constant: {other:?}"),
    }
}

fn constant(expression: &str) -> String {
    constant_after("", expression)
}

#[test]
fn operators_bind_as_the_grammar_ranks_them() {
    assert_eq!(constant("a + b * c"), "(Add a (Mul b c))");
    assert_eq!(
        constant("a || b && c == d < e | f ^ g & h << i ++ j * -k"),
        "(Or a (And b (Eq c (Lt d (BitOr e (BitXor f (BitAnd g (Shl h (Concat i (Mul j (Negate k)))))))))))"
    );
    assert_eq!(constant("a - b - c |+| d |-| e"), "(SatSub (SatAdd (Sub (Sub a b) c) d) e)");
    assert_eq!(constant("a >> 1 >> 2 > b"), "(Gt (Shr (Shr a 1) 2) b)");
    assert_eq!(constant("!a.b[3] == ~c"), "(Eq (Not (index a.b 3)) (Complement c))");
    assert_eq!(constant("a ? b : c || d"), "(? a b (Or c d))");
    assert_eq!(constant("a ? b ? 1 : 2 : (c ? 3 : 4)"), "(? a (? b 1 2) [(? c 3 4)])");
}

#[test]
fn two_greater_signs_are_a_shift_only_when_they_touch() {
    assert_eq!(constant("a >> b"), "(Shr a b)");
    assert_eq!(codes("const bool c = a > > b;"), ["E0301"]);
    program("extern E<T> { E(); } E<tuple<bit<8>,E<bit<8>>>>() e;");
}

#[test]
fn less_than_begins_type_arguments_only_before_types_and_a_call() {
    assert_eq!(constant("f<bit<8>>(x)"), "(call f <bit:8> x)");
    assert_eq!(constant_after("struct S {}", "f<S>(x)"), "(call f <S> x)");
    assert_eq!(constant_after("struct S {}", "p.lookahead<S>().x"), "(call p.lookahead <S>).x");
    assert_eq!(constant_after("const bit<8> a = 1;", "f < a > (x)"), "(Gt (Lt f a) [x])");
    assert_eq!(constant("a < b"), "(Lt a b)");
    assert_eq!(constant_after("enum E { A }", "a < E.A"), "(Lt a type E.A)");
    assert_eq!(constant("f<_, void>(x)"), "(call f <DontCare> <Void> x)");
}

#[test]
fn a_value_hides_the_type_of_the_same_name() {
    let text = "struct S {} control C(in bit<8> S) { apply { bool b = f < S > (1); } }";
    let program = program(text);
    let DeclarationKind::Control(control) = &program.declarations[1].kind else { panic!() };
    let StatementKind::Declaration(declaration) = &control.body.statements[0].kind else {
        panic!()
    };
    let DeclarationKind::Variable { init: Some(init), .. } = &declaration.kind else { panic!() };
    assert_eq!(shape(init), "(Gt (Lt f S) [1])");
}

#[test]
fn a_parenthesised_type_is_a_cast_and_a_parenthesised_value_is_not() {
    assert_eq!(constant("(bit<8>) a + b"), "(Add (as bit:8 a) b)");
    assert_eq!(constant("(bit<8>) -a"), "(as bit:8 (Negate a))");
    assert_eq!(constant("(a) - b"), "(Sub [a] b)");
    assert_eq!(constant_after("typedef bit<8> T;", "(T) - b"), "(as T (Negate b))");
    assert_eq!(constant_after("typedef bit<8> T;", "(T)(U)(.T) b"), "(as T (as U (as .T b)))");
    assert_eq!(constant_after("struct S {}", "(S) { a = 1, ... }"), "(as S {a=1 ...})");
    assert_eq!(constant("(Unknown) b"), "(as Unknown b)");
    assert_eq!(constant("(tuple<bit<8>, G<_>>) { 1 }"), "(as tuple<bit:8,G<DontCare>> {1})");
}

#[test]
fn dots_lists_and_slices_read_as_the_grammar_has_them() {
    assert_eq!(constant("{ }"), "{}");
    assert_eq!(constant("{ a, b, }"), "{a b}");
    assert_eq!(constant("{ a = 1, b = { 2 } }"), "{a=1 b={2}}");
    assert_eq!(constant("{ ... }"), "{...}");
    assert_eq!(constant("{#}"), "{#}");
    assert_eq!(constant("a[7:4]"), "(slice a 7 4)");
    assert_eq!(constant("a[x + 1 +: 4]"), "(slice+ a (Add x 1) 4)");
    assert_eq!(constant("error.NoMatch"), "error.NoMatch");
    assert_eq!(constant(".a.b"), ".a.b");
    assert_eq!(constant("f(x, y = _, z = 3)"), "(call f x y=_ z=3)");
}

#[test]
fn constructors_of_known_types_are_calls_of_types() {
    let types = "extern E<T> { E(bit<8> n); } control C() { apply {} }";
    assert_eq!(constant_after(types, "E<bit<16>>(5)"), "(call type E<bit:16> 5)");
    assert_eq!(constant_after(types, "C()"), "(call type C)");
    assert_eq!(constant_after(types, ".C()"), "(call type .C)");
}

#[test]
fn keywords_that_may_be_names_are_names() {
    let words = ["apply", "key", "actions", "state", "entries", "type", "priority", "list"];
    for word in words {
        program(&format!("struct S {{ bit<8> {word}; }} const bit<8> {word} = h.{word};"));
    }
    for word in ["table", "action", "default", "in", "this", "_"] {
        assert_eq!(codes(&format!("struct S {{ bit<8> {word}; }}")), ["E0301"], "{word}");
    }
}

/// The statements of `apply` in a control, by the name of their kind.
fn statements(body: &str) -> Vec<String> {
    let text = format!(
        "extern R<T> {{ R(); }} struct S {{}} control D() {{ apply {{}} }} control C() {{ apply {{ {body} }} }}"
    );
    let program = program(&text);
    let DeclarationKind::Control(control) = &program.declarations.last().unwrap().kind else {
        panic!()
    };
    let kind = |statement: &Statement| match &statement.kind {
        StatementKind::Declaration(declaration) => match &declaration.kind {
            DeclarationKind::Variable { ty, name, .. } => {
                format!("{} {}", type_shape(ty), name.text)
            }
            DeclarationKind::Instantiation { ty, name, .. } => {
                format!("new {} {}", type_shape(ty), name.text)
            }
            other => format!("{other:?}"),
        },
        StatementKind::Assign { target, op, value } => {
            format!("{} {op:?}= {}", shape(target), shape(value))
        }
        StatementKind::Call(call) => shape(call),
        StatementKind::DirectApplication { ty, args } => {
            format!("apply {} {}", type_shape(ty), args.len())
        }
        other => format!("{other:?}").split([' ', '(']).next().unwrap().to_string(),
    };
    control.body.statements.iter().map(kind).collect()
}

#[test]
fn declarations_calls_and_assignments_are_distinguished() {
    assert_eq!(
        statements("Unknown x; S[3] y; R<bit<8>> z = a;"),
        ["Unknown x", "S[3] y", "R<bit:8> z"]
    );
    assert_eq!(
        statements("a[3] = b; a.b[3:0] = c; (a) = 1;"),
        ["(index a 3) None= b", "(slice a.b 3 0) None= c", "[a] None= 1"]
    );
    assert_eq!(
        statements("f(x); t.apply(); g<bit<8>>(x); a.b.c();"),
        ["(call f x)", "(call t.apply)", "(call g <bit:8> x)", "(call a.b.c)"]
    );
    assert_eq!(statements("R<bit<8>>() r; D() d;"), ["new R<bit:8> r", "new D d"]);
    assert_eq!(statements("D.apply(a, b); .D.apply();"), ["apply D 2", "apply .D 0"]);
    assert_eq!(
        statements("; { } if (a) b = 1; else return; exit;"),
        ["Empty", "Block", "If", "Exit"]
    );
}

#[test]
fn all_compound_assignments_are_known() {
    let signs = ["*", "/", "%", "+", "-", "|+|", "|-|", "<<", ">>", "&", "|", "^"];
    let ops = [
        "Mul", "Div", "Mod", "Add", "Sub", "SatAdd", "SatSub", "Shl", "Shr", "BitAnd", "BitOr",
        "BitXor",
    ];
    for (sign, op) in signs.into_iter().zip(ops) {
        assert_eq!(statements(&format!("a {sign}= b;")), [format!("a Some({op})= b")]);
    }
}

#[test]
fn loops_have_both_forms() {
    let text = "for (bit<8> i = 0, j = 1; i < 5; i = i + 1, f(i)) { continue; } \
        for (@a bit<8> x in 1 .. 5) break; @unroll for (S s in stack) { } for (;true;) { }";
    assert_eq!(statements(text), ["For", "ForIn", "ForIn", "For"]);
}

#[test]
fn keysets_are_split_at_the_commas_of_their_own_parentheses_only() {
    let program = program(
        "parser P() { state start { transition select(a, b) { \
            (1, 2 &&& 3): x; (4 .. 5, _): y; default: accept; (c): z; (bit<8>) 6: x; (7) + 8: x; } } }",
    );
    let DeclarationKind::Parser(parser) = &program.declarations[0].kind else { panic!() };
    let Some(Transition::Select { keys, cases, .. }) = &parser.states[0].transition else {
        panic!()
    };
    let keyset = |keyset: &Keyset| match keyset {
        Keyset::Value(value) => shape(value),
        Keyset::Mask(value, mask) => format!("{}&&&{}", shape(value), shape(mask)),
        Keyset::Range(low, high) => format!("{}..{}", shape(low), shape(high)),
        Keyset::Default(_) => "_".to_string(),
    };
    let found: Vec<Vec<String>> =
        cases.iter().map(|case| case.keysets.iter().map(keyset).collect()).collect();
    assert_eq!(keys.len(), 2);
    let expected: [&[&str]; 6] =
        [&["1", "2&&&3"], &["4..5", "_"], &["_"], &["c"], &["(as bit:8 6)"], &["(Add [7] 8)"]];
    assert_eq!(found, expected);
}

#[test]
fn a_table_keeps_all_its_properties() {
    let program = program(
        "control C() { table t { key = { a.b: exact @name(\"k\"); c: lpm; } \
            actions = { @defaultonly .x; y(1); } const entries = { priority = 3: (1, _): y(2) @a; \
            const 5 &&& 1: x; } @p const default_action = x(); size = 10; other = E(3); } apply {} }",
    );
    let DeclarationKind::Control(control) = &program.declarations[0].kind else { panic!() };
    let DeclarationKind::Table { properties, .. } = &control.locals[0].kind else { panic!() };
    let TableProperty::Key(keys) = &properties[0] else { panic!() };
    assert_eq!((keys.len(), keys[0].annotations.len(), &*keys[1].match_kind.text), (2, 1, "lpm"));
    let TableProperty::Actions(actions) = &properties[1] else { panic!() };
    assert_eq!(
        (actions[0].global, actions[0].args.is_none(), actions[1].args.is_some()),
        (true, true, true)
    );
    let TableProperty::Entries { is_const, entries, .. } = &properties[2] else { panic!() };
    assert_eq!((*is_const, entries[0].keysets.len(), entries[0].annotations.len()), (true, 2, 1));
    assert!(entries[0].priority.is_some() && entries[1].is_const);
    let others =
        properties[3..].iter().filter(|p| matches!(p, TableProperty::Other { .. })).count();
    assert_eq!(others, 3);
}

#[test]
fn externs_keep_constructors_and_abstract_methods() {
    let program = program(
        "extern R<T, I> { R(); R(bit<32> size); T read(in I index); \
            @synchronous(a) abstract void apply(inout T value, @optional out I rv); } \
         extern T f<T>(in T x, bit<8> y = 3); extern void g();",
    );
    let DeclarationKind::ExternObject { methods, type_params, .. } = &program.declarations[0].kind
    else {
        panic!()
    };
    let flags: Vec<(bool, bool)> =
        methods.iter().map(|m| (m.is_constructor, m.is_abstract)).collect();
    assert_eq!(flags, [(true, false), (true, false), (false, false), (false, true)]);
    assert_eq!(
        (type_params.len(), methods[3].prototype.params[0].direction),
        (2, Direction::InOut)
    );
}

#[test]
fn instances_may_implement_abstract_methods() {
    let program = program(
        "extern A<T> { A(); abstract void apply(inout T v); } \
         control C() { A<bit<8>>() a = { void apply(inout bit<8> v) { v = v + 1; } }; apply { } }",
    );
    let DeclarationKind::Control(control) = &program.declarations[1].kind else { panic!() };
    let DeclarationKind::Instantiation { body: Some(body), .. } = &control.locals[0].kind else {
        panic!()
    };
    assert!(matches!(body[0].kind, DeclarationKind::Function { .. }));
}

#[test]
fn annotations_keep_their_tokens() {
    let program = program(
        "@a @b(x, (\"s\" + 1) >>) @c[1, 2,] @d[k = 1, l = \"m\"]\n@pragma stage 3 \"x\" \\\n  4\n@pragma lone\nconst bit<8> c = 1;",
    );
    let annotations = &program.declarations[0].annotations;
    let tokens = |index: usize| match &annotations[index].body {
        AnnotationBody::Tokens(tokens) => {
            tokens.iter().map(|t| t.text.to_string()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(tokens(1), ["x", ",", "(", "s", "+", "1", ")", ">", ">"]);
    assert!(matches!(&annotations[2].body, AnnotationBody::Expressions(e) if e.len() == 2));
    assert!(matches!(&annotations[3].body, AnnotationBody::KeyValues(e) if e.len() == 2));
    assert_eq!(
        (&*annotations[4].name.text, tokens(4)),
        ("stage", vec!["3".into(), "x".into(), "4".into()])
    );
    assert!(matches!(annotations[5].body, AnnotationBody::Empty));
}

#[test]
fn types_of_all_forms_are_read() {
    program(
        "typedef bit<8> A; type A B; typedef struct P { A a; } Q; typedef A[4][2] S; \
         enum E { X, Y, } enum bit<8> F { X = 1, Y = 2 } error { E1, E2 } match_kind { m1, m2, } \
         header H<T> { T t; varbit<(8 * 4)> v; } header_union U { H<bit<8>> h; } \
         parser P1<T>(packet_in p, out T t); control C1<T>(inout T t); package K<T, V>(P1<T> p, C1<_> c = N()); \
         const list<tuple<bit, int, int<8>, bool, string, error, match_kind>> l = { }; \
         bit<8> f<T>(in T x) { return 1; } void g() { return; } action a(in bit<8> x, bit<8> y) { }",
    );
}
