//! No input makes the parser panic, hang, or use up the stack.

use super::{codes, parse_bytes};
use crate::diagnostic::{RenderOptions, render_all, to_json_string};
use proptest::prelude::*;

/// A program that uses most of the grammar, to be damaged.
const WHOLE: &str = "\
#define W 8
#define F(a, b, ...) a##b + (a) #b , ## __VA_ARGS__
#include \"none.p4\"
error { A, B }
match_kind { exact, lpm }
typedef bit<(W + 1)> t;
@name(\"x\") header H<T> { T a; varbit<32> v; }
enum bit<8> E { X = 1, Y = 2 }
extern R<T, I> { R(bit<32> n); T read(in I i); abstract void apply(inout T v, out T r); }
package K<T>(P<T> p, C<_> c);
parser P(packet_in p, out H<bit<8>> h)(bit<8> k) {
    value_set<bit<8>>(4) vs;
    state start {
        p.extract<H<bit<8>>>(h);
        transition select(h.a, p.lookahead<bit<8>>()) {
            (1, 2 &&& 3): next;
            (vs, 4 .. 5): accept;
            default: reject;
        }
    }
    state next { if (h.a == 1) { verify(false, error.A); } transition accept; }
}
control C(inout H<bit<8>> h) {
    R<bit<8>, bit<16>>(10) r = { void apply(inout bit<8> v, out bit<8> o) { o = v; } };
    action a(bit<8> x) { h.a = (bit<8>) x << 1 |+| 3; }
    table tb {
        key = { h.a[3:0]: exact @name(\"k\"); }
        actions = { @defaultonly a(1); }
        const entries = { priority = 1: 5: a(2); }
        default_action = a(3);
    }
    apply {
        bit<8> x = h.a > 3 ? 8w0xF : -4s7;
        switch (tb.apply().action_run) { a: { x |-|= 1; } default: { } }
        for (bit<8> i in 1 .. 5) { if (i >> 1 == 2) break; else continue; }
        x = f<bit<8>, H<t>>(x, { a = 1, ... }, y = _);
        return;
    }
}
K(P(3), C()) main;
";

/// Pieces of the language, to be thrown together.
const PIECES: &[&str] = &[
    "control",
    "parser",
    "apply",
    "state",
    "table",
    "key",
    "actions",
    "entries",
    "struct",
    "header",
    "enum",
    "extern",
    "action",
    "transition",
    "select",
    "if",
    "else",
    "switch",
    "for",
    "in",
    "return",
    "typedef",
    "type",
    "const",
    "bit",
    "int",
    "varbit",
    "<",
    ">",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ":",
    ",",
    ".",
    "..",
    "...",
    "=",
    "==",
    "&&&",
    "|+|",
    "++",
    "+",
    "-",
    "?",
    "@",
    "{#}",
    "_",
    "x",
    "T",
    "S",
    "8w5",
    "0x",
    "\"s\"",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    "\n#",
    "#",
    "##",
    "\n#define x",
    "\n#define F(a)",
    "F",
    "\n#if",
    "\n#else",
    "\n#endif",
    "\n#include",
    "defined",
    "\\\n",
    "$",
    "default",
    "error",
    "match_kind",
    "value_set",
    "list",
    "tuple",
    "void",
    "this",
    "pragma",
    "\u{e9}",
];

/// Parses, and looks at all that comes out.
fn survive(bytes: &[u8]) {
    let (_, sources, found) = parse_bytes(bytes);
    let text = render_all(&found, &sources, &RenderOptions::default());
    let too_wide = text.lines().find(|line| line.chars().count() > 100);
    assert_eq!(too_wide, None, "wider than the terminal");
    to_json_string(&found, &sources);
    let colour = RenderOptions { colour: true, width: 40 };
    render_all(&found[..found.len().min(3)], &sources, &colour);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2 * ProptestConfig::default().cases))]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survive(&bytes);
    }

    #[test]
    fn any_row_of_tokens_is_survived(row in prop::collection::vec(prop::sample::select(PIECES), 0..80)) {
        survive(row.join(" ").as_bytes());
        survive(row.concat().as_bytes());
    }

    #[test]
    fn any_damage_to_a_program_is_survived(
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..8_usize, prop::sample::select(PIECES)), 1..6)
    ) {
        let mut bytes = WHOLE.as_bytes().to_vec();
        for (place, length, piece) in damage {
            let at = place.index(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, piece.bytes());
        }
        survive(&bytes);
    }
}

#[test]
fn the_program_to_be_damaged_is_right_but_for_its_include() {
    assert_eq!(codes(WHOLE), ["E0124"]);
}

#[test]
fn deep_nesting_of_any_kind_is_refused() {
    let deep = 5_000;
    for (before, inner, after) in [
        ("const bit<8> a = ", "(", ""),
        ("const bit<8> a = ", "-", "1;"),
        ("const bit<8> a = ", "{", ""),
        ("const bit<8> a = ", "f(", ""),
        ("const bit<8> a = ", "a[", ""),
        ("const bit<8> a = ", "(bit<8>)", "1;"),
        ("const bit<8> a = ", "a ? ", "1;"),
        ("const bit<8> a = 1", " + 1", ";"),
        ("const bit<8> a = 1", "[1]", ";"),
        ("const bit<8> a = x", ".x", ";"),
        ("const bit<8> a = f", "()", ";"),
        ("const ", "bit<(", ""),
        ("const ", "tuple<", ""),
        ("const bit", "[1]", " a = 1;"),
        ("const bit<8> a = 1 ", "< x", ";"),
        ("const bit<8> a = f", "<f", ";"),
        ("control C() { apply { ", "{", ""),
        ("control C() { apply { ", "if (a) ", ";}}"),
        ("control C() { apply { ", "if (a) ; else ", ";}}"),
        ("control C() { apply { ", "for (;;) ", ";}}"),
        ("control C() { apply { ", "switch (a) { x: {", ""),
        ("", "A() a = { ", ""),
        ("@a[", "{", ""),
        ("", "typedef struct S { ", ""),
    ] {
        let text = format!("{before}{}{after}", inner.repeat(deep));
        assert!(!codes(&text).is_empty(), "{before}{inner}...");
    }
}

#[test]
fn deep_nesting_in_the_preprocessor_is_refused_or_harmless() {
    for (inner, after) in [("F(", ""), ("#if 1\n", ""), ("#if 0\n", "")] {
        let text = format!("#define F(x) x\n{}{after}", inner.repeat(5_000));
        assert!(!codes(&text).is_empty(), "{inner}...");
    }
    for inner in ["(", "-", "1 ? ", "1 + (", "1 && "] {
        let text = format!("#if {}1\n#endif\n", inner.repeat(5_000));
        super::parse_bytes(text.as_bytes());
    }
}

#[test]
fn trees_within_the_limit_are_walked_on_a_small_stack() {
    let chain = format!("const bit<8> a = 1{};", " + 1".repeat(150));
    let nested = format!("const bit<8> a = {}1{};", "(".repeat(150), ")".repeat(150));
    let blocks =
        format!("control C() {{ apply {{ {}{} }} }}", "if (a) {".repeat(60), "}".repeat(60));
    let run = move || {
        for text in [&chain, &nested, &blocks] {
            assert_eq!(codes(text), [""; 0]);
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn long_programs_take_time_in_proportion() {
    let many = "const bit<8> a = f < b; ".repeat(20_000);
    let errors = "const bit<8> = f < b; ".repeat(20_000);
    let open = "f<f(".repeat(20_000);
    let start = std::time::Instant::now();
    for text in [many, errors, open] {
        parse_bytes(text.as_bytes());
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}
