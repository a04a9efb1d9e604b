//! Robustness: no input makes the checker panic, overflow or loop forever.

use super::{CORE, checked, codes, in_control};
use crate::check::check;
use crate::parse::parse_program;
use crate::preprocess::{MemoryLoader, PreprocessOptions};

/// Parses input that may be malformed, and checks the resulting tree.
fn survive(text: &str) {
    let loader = MemoryLoader::new()
        .with("core.p4", CORE)
        .with("main.p4", format!("#include \"core.p4\"\n{text}"));
    let (program, sources, _) = parse_program(&loader, "main.p4", &PreprocessOptions::default());
    check(&program, &sources);
}

const PROGRAM: &str = "header H { bit<8> a; varbit<16> v; } struct S<T> { T x; H[3] h; }\n\
    extern E<T> { E(T x); T get<U>(in T a, out U b); abstract void f(inout T x); }\n\
    T same<T>(in T x) { return x; }\n\
    enum bit<4> N { a = 1, b = a + 1 }\n\
    parser p(packet_in b, out S<bit<8>> s)(bool k) { value_set<bit<8>>(4) vs;\n\
    state start { b.extract(s.h.next); transition select(s.x, k) { (1 &&& 3, true) : start; _ : accept; } } }\n\
    control c(inout S<bit<8>> s) { E<bit<8>>(5) e = { void f(inout bit<8> x) { x = this.get(x, s.x); } };\n\
    action a(in bit<8> d, bit<8> v) { s.x = same(d) + v; }\n\
    table t { key = { s.x : exact; s.h[0].isValid() : exact; } actions = { a(s.x); NoAction; }\n\
    default_action = a(s.x, 3); entries = { (1, true) : a(s.x, 2); } }\n\
    apply { if (t.apply().hit) { s.x[3:0] = 4; } else { switch (t.apply().action_run) { a: { } } }\n\
    for (bit<8> i in 0 .. 3) { s = { x = i, ... }; } } }\n";

#[test]
fn every_prefix_of_a_program_is_survived() {
    for (at, _) in PROGRAM.char_indices() {
        survive(&PROGRAM[..at]);
    }
}

#[test]
fn a_program_with_any_word_left_out_is_survived() {
    let words: Vec<&str> = PROGRAM.split(' ').collect();
    for left_out in 0..words.len() {
        let rest = words.iter().enumerate().filter(|(at, _)| *at != left_out);
        survive(&rest.map(|(_, word)| *word).collect::<Vec<_>>().join(" "));
    }
}

#[test]
fn a_program_with_any_word_doubled_or_replaced_is_survived() {
    let words: Vec<&str> = PROGRAM.split(' ').collect();
    for at in 0..words.len() {
        for other in ["s", "a", "5", "T", "{", "e.f"] {
            let mut changed = words.clone();
            changed[at] = other;
            survive(&changed.join(" "));
        }
    }
}

#[test]
fn the_deepest_nesting_that_parses_is_checked() {
    let depth = 60;
    let expression = format!("{}x{}", "(x + ".repeat(depth), ")".repeat(depth));
    assert!(checked(&in_control(&format!("x = {expression};"))).0.is_some());
    let statement = format!("{}x = 1;{}", "if (t) { ".repeat(depth), " }".repeat(depth));
    assert!(checked(&in_control(&statement)).0.is_some());
}

#[test]
fn numbers_that_grow_without_end_are_stopped() {
    assert_eq!(codes("const int a = 1 << 1000000;\n"), ["E0603"]);
    let mut program = String::from("const int a0 = 1 << 1000;\n");
    for n in 1..20 {
        program += &format!("const int a{n} = a{} * a{};\n", n - 1, n - 1);
    }
    assert!(codes(&program).contains(&"E0603"));
}

#[test]
fn types_that_grow_without_end_are_stopped() {
    let mut program = String::from("struct P<T> { T a; T b; }\n");
    program += "typedef P<bit<8>> T0;\n";
    for n in 1..14 {
        program += &format!("typedef P<T{}> T{n};\n", n - 1);
    }
    program += "control c() { T13 x; apply {} }\n";
    assert!(checked(&program).0.is_some());
    assert_eq!(codes("typedef bit<99999999> W;\n"), ["E0504"]);
}

#[test]
fn types_that_double_at_every_level_are_refused_where_they_grow_too_large() {
    let levels = |of: &dyn Fn(usize) -> String| (1..31).map(of).collect::<String>();
    let structs = levels(&|n| format!("struct s{n} {{ s{0} a; s{0} b; }}\n", n - 1));
    for first in
        ["struct s0 { bit<8> x; }", "struct s0 { }", "header h { bit<8> x; } struct s0 { h x; }"]
    {
        assert_eq!(codes(&format!("{first}\n{structs}")), ["E1202"], "{first}");
    }
    let constants = levels(&|n| {
        let below = n - 1;
        format!(
            "struct s{n} {{ s{below} a; s{below} b; }} const s{n} k{n} = {{ k{below}, k{below} }};\n"
        )
    });
    let first = "struct s0 { bit<8> x; } const s0 k0 = { 1 };\n";
    assert_eq!(codes(&format!("{first}{constants}")), ["E1202"]);
    let tuples = levels(&|n| format!("typedef tuple<t{0}, t{0}> t{n};\n", n - 1));
    assert_eq!(codes(&format!("typedef bit<8> t0;\n{tuples}")), ["E1202"]);
    let generic = levels(&|n| format!("typedef G<g{0}> g{n};\n", n - 1));
    let first = "struct G<T> { T a; T b; } struct g0 { bit<8> x; }\n";
    assert_eq!(codes(&format!("{first}{generic}")), ["E1202"]);
    let copies = levels(&|n| {
        format!("T f{n}<T>(in T x) {{ tuple<T, T> y = {{ x, x }}; f{0}(y); return x; }}\n", n - 1)
    });
    let used = in_control("x = f30(x);");
    let said = codes(&format!("T f0<T>(in T x) {{ return x; }}\n{copies}{used}"));
    assert!(said.contains(&"E1202"), "{said:?}");
}

#[test]
fn numbers_beyond_the_widest_type_are_refused_however_they_are_made() {
    let huge = "18446744073709551615";
    for (made, expected) in [
        (format!("const int x = 1 << {huge};"), "E0603"),
        (format!("const int x = -1 << {huge};"), "E0603"),
        ("const int x = 1 << 18446744073709551552;".into(), "E0603"),
        (format!("const int y = {huge}; const int x = 1 << y;"), "E0603"),
        (format!("const bit<8> x = 1 << {huge};"), "E0603"),
        (format!("typedef bit<(1 << {huge})> t;"), "E0603"),
        (format!("typedef bit<{huge}> t;"), "E0504"),
        (format!("typedef varbit<{huge}> t;"), "E0504"),
        ("const bit<1> x = 4294967295w1;".into(), "E0504"),
        ("const int<1> x = 4294967295s1;".into(), "E0504"),
        ("const bit<8> x = (bit<4294967295>) 1;".into(), "E0504"),
        ("const bit<8> x = ((bit<262144>) 1 ++ (bit<262144>) 1)[7:0];".into(), "E0601"),
        ("const bit<8> x = 1[4294967295:0];".into(), "E0504"),
        (format!("header h {{ bit<8> x; }} struct s {{ h[{huge}] a; }}"), "E0504"),
    ] {
        assert_eq!(codes(&made).first(), Some(&expected), "{made}");
    }
    assert_eq!(codes("const bit<8> x = (bit<8>) (1 << 262143);"), ["W0501"]);
}

#[test]
fn constants_that_grow_with_every_use_are_refused_before_they_fill_memory() {
    let levels = |of: &dyn Fn(usize) -> String| (1..60).map(of).collect::<String>();
    let squares = levels(&|n| format!("const int k{n} = k{0} * k{0};\n", n - 1));
    assert_eq!(codes(&format!("const int k0 = 3;\n{squares}")), ["E0603"]);
    let strings = levels(&|n| format!("const string k{n} = k{0} ++ k{0};\n", n - 1));
    assert_eq!(codes(&format!("const string k0 = \"a\";\n{strings}")), ["E1202"]);
    let wide = "const bit<262144> k = -1;\n";
    let uses: String = (0..600).map(|n| format!("const bit<262144> k{n} = k;\n")).collect();
    assert_eq!(codes(&format!("{wide}{uses}")), ["W0501", "E1202"]);
    let written: String = (0..600).map(|n| format!("const bit<262144> k{n} = -1;\n")).collect();
    let said = codes(&written);
    assert_eq!(said.iter().filter(|code| **code == "E1202").count(), 1, "{said:?}");
    let stack = "struct s { bit<8>[60000] a; }\n";
    let defaults: String = (0..100).map(|n| format!("const s k{n} = ...;\n")).collect();
    assert_eq!(codes(&format!("{stack}{defaults}")), ["E1202"]);
}

#[test]
fn of_too_many_messages_the_first_are_drawn_and_all_are_counted() {
    let assignments: String = (0..10_000).map(|n| format!("x = z{n};\n")).collect();
    let (_, sources, found) = checked(&in_control(&assignments));
    let drawn = crate::diagnostic::render_all(&found, &sources, &Default::default());
    assert!(drawn.contains("`z0`") && drawn.contains("`z99`") && !drawn.contains("`z100`"));
    assert!(drawn.contains("9900 more are not shown"));
    assert!(drawn.ends_with("10000 errors\n"), "{}", &drawn[drawn.len() - 60..]);
}
