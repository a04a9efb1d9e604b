//! Behaviour of the preprocessor, on programs in memory.

use super::*;
use crate::diagnostic::{Diagnostic, Severity};
use std::path::Path;

fn run_with(loader: &MemoryLoader, options: &PreprocessOptions) -> Preprocessed {
    preprocess(loader, Path::new("main.p4"), options)
}

fn run(text: &str) -> Preprocessed {
    run_with(&MemoryLoader::new().with("main.p4", text), &PreprocessOptions::default())
}

fn spelled(done: &Preprocessed) -> String {
    let tokens = &done.tokens[..done.tokens.len() - 1];
    tokens.iter().map(Token::spelling).collect::<Vec<_>>().join(" ")
}

/// The tokens of a program that must not give any diagnostic.
fn tokens(text: &str) -> String {
    let done = run(text);
    assert_eq!(done.diagnostics, [], "{text}");
    spelled(&done)
}

fn codes(done: &Preprocessed) -> Vec<&'static str> {
    done.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn an_object_like_macro_is_replaced_until_it_is_undefined() {
    assert_eq!(tokens("#define W 8\nbit<W> x\n#undef W\nW"), "bit < 8 > x W");
}

#[test]
fn a_macro_may_be_used_before_those_that_its_replacement_uses_are_defined() {
    assert_eq!(tokens("#define A B\n#define B 3\nA"), "3");
}

#[test]
fn a_macro_is_not_expanded_inside_its_own_replacement() {
    assert_eq!(tokens("#define A A + B\n#define B A\nA"), "A + A");
}

#[test]
fn the_examples_of_the_c_standard_for_rescanning_come_out() {
    let text = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n\
        #define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n\
        f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);";
    let expected = "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % \
        f ( 2 * ( 0 ) ) + t ( 1 ) ; \
        f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ;";
    assert_eq!(tokens(text), expected);
}

#[test]
fn a_function_like_macro_without_parentheses_stays_a_word() {
    assert_eq!(tokens("#define F(x) <x>\nF F\n(1) F;"), "F < 1 > F ;");
}

#[test]
fn hash_makes_a_string_of_the_unexpanded_argument() {
    let text = "#define W 8\n#define S(x) #x\n#define T(x) S(x)\nS(W + \"a\\n\") T(W)";
    assert_eq!(tokens(text), r#""W + \"a\\n\"" "8""#);
}

#[test]
fn double_hash_joins_tokens_and_forgets_empty_arguments() {
    assert_eq!(
        tokens("#define C(a, b) a##b\nC(hdr, _t) C(8, w5) C(, x) C(x,) C(,)"),
        "hdr_t 8w5 x x"
    );
    assert_eq!(tokens("#define L(n) n##w##0xFF\nL(16)"), "16w0xFF");
}

#[test]
fn tokens_that_cannot_be_pasted_stay_two() {
    let done = run("#define C(a, b) a##b\nC(x, +)");
    assert!(done.diagnostics.is_empty());
    assert_eq!(tokens("#define LOW(n) hash[##n-1:0]\nLOW(4)"), "hash [ 4 - 1 : 0 ]");
}

#[test]
fn variadic_macros_take_the_rest_and_drop_the_comma_if_there_is_none() {
    let text =
        "#define F(a, ...) f(a, ## __VA_ARGS__)\n#define G(r...) g(r)\nF(1) F(1, 2, 3) G(1, 2)";
    assert_eq!(tokens(text), "f ( 1 ) f ( 1 , 2 , 3 ) g ( 1 , 2 )");
}

#[test]
fn arguments_may_span_lines_and_hold_directives() {
    let text = "#define F(a, b) [a|b]\n#define X\nF(1,\n#ifdef X\n(2, 3)\n#else\n4\n#endif\n)";
    assert_eq!(tokens(text), "[ 1 | ( 2 , 3 ) ]");
}

#[test]
fn a_wrong_number_of_arguments_is_reported_with_the_definition() {
    let done = run("#define F(a, b) a b\nF(1)\nF(1, 2, 3)\nF(1");
    assert_eq!(codes(&done), ["E0140", "E0140", "E0140"]);
    assert!(done.diagnostics[0].message.contains("takes 2 arguments, not 1 argument"));
}

#[test]
fn conditions_choose_one_branch() {
    let text = "#if V == 1\na\n#elif V == 2\nb\n#elif V == 2\nc\n#else\nd\n#endif\ne";
    let loader = MemoryLoader::new().with("main.p4", text);
    for (value, expected) in [("1", "a e"), ("2", "b e"), ("3", "d e")] {
        let defines = vec![("V".to_string(), value.to_string())];
        let options = PreprocessOptions { defines, ..PreprocessOptions::default() };
        assert_eq!(spelled(&run_with(&loader, &options)), expected);
    }
}

#[test]
fn skipped_lines_need_not_make_sense_and_nest() {
    let text = "#if 0\ndon't \"\n#if X\n#else\n#endif\n#error no\n#nonsense\n#elif 1\nyes\n#endif";
    assert_eq!(tokens(text), "yes");
}

#[test]
fn conditions_compute_as_c_does() {
    for expression in [
        "1 + 2 * 3 == 7 && !(4 > 5)",
        "-8 / 3 == -2 && -8 % 3 == -2",
        "(1 << 4 | 3) == 0x13 && 256 >> 4 == 16",
        "0 || (0 ? 1/0 : 2) == 2",
        "0 && 1/0 || 1",
        "defined(F) && defined G && !defined H && F(3) == 6",
        "UNKNOWN == 0 && 0b101 == 5 && 10UL == 10",
        "(5 ^ 1) == 4 && ~0 == -1 && (6 & 3) == 2",
        "3 >= 3 && 2 <= 3 && 1 != 2",
    ] {
        let text = format!("#define F(x) (x * 2)\n#define G\n#if {expression}\nyes\n#endif");
        assert_eq!(tokens(&text), "yes", "{expression}");
    }
}

#[test]
fn malformed_conditions_are_errors_and_count_as_false() {
    for expression in ["", "1 +", "(1", "1 2", "F(2)", "8w5", "1 / 0", "\"a\"", "1 ? 2"] {
        let done = run(&format!("#if {expression}\nyes\n#endif"));
        assert_eq!(done.diagnostics.len(), 1, "{expression}: {:?}", done.diagnostics);
        assert_eq!(spelled(&done), "", "{expression}");
    }
}

#[test]
fn unbalanced_conditions_are_errors() {
    assert_eq!(codes(&run("#if 1\nx")), ["E0130"]);
    assert_eq!(codes(&run("#if 0\nx")), ["E0130"]);
    assert_eq!(codes(&run("#endif\n#else\n#elif 1")), ["E0136", "E0136", "E0136"]);
    assert_eq!(codes(&run("#if 1\n#else\n#else\n#endif")), ["E0136"]);
}

#[test]
fn quotes_search_the_folder_of_the_including_file_first_and_angles_do_not() {
    let loader = MemoryLoader::new()
        .with("main.p4", "#include \"sub/a.p4\"\n#include <b.p4>")
        .with("sub/a.p4", "#include \"b.p4\"\na")
        .with("sub/b.p4", "beside")
        .with("lib/b.p4", "searched");
    let include_paths = vec!["lib".into()];
    let options = PreprocessOptions { include_paths, ..PreprocessOptions::default() };
    assert_eq!(spelled(&run_with(&loader, &options)), "beside a searched");
}

#[test]
fn the_name_of_an_included_file_may_come_from_macros() {
    let loader = MemoryLoader::new()
        .with("main.p4", "#define F \"a.p4\"\n#define DIR lib\n#include F\n#include <DIR/b.p4>\n")
        .with("a.p4", "a")
        .with("lib/b.p4", "b");
    let include_paths = vec!["".into()];
    let options = PreprocessOptions { include_paths, ..PreprocessOptions::default() };
    let done = run_with(&loader, &options);
    assert_eq!(codes(&done), ["E0124"], "no macro is expanded between angle brackets");
    assert_eq!(spelled(&done), "a");
}

#[test]
fn a_missing_file_is_an_error_and_the_rest_is_read() {
    let done = run("#include <core.p4>\nx");
    assert_eq!((codes(&done), spelled(&done)), (vec!["E0124"], "x".to_string()));
    let done = run_with(&MemoryLoader::new(), &PreprocessOptions::default());
    assert_eq!(codes(&done), ["E0120"]);
}

#[test]
fn an_include_circle_is_cut_with_an_error_that_names_it() {
    let loader = MemoryLoader::new()
        .with("main.p4", "#include \"a.p4\"")
        .with("a.p4", "#include \"main.p4\"");
    let done = run_with(&loader, &PreprocessOptions::default());
    assert_eq!(codes(&done), ["E0123"]);
    assert!(done.diagnostics[0].label.as_ref().unwrap().contains("circle"));
}

#[test]
fn a_file_that_includes_itself_twice_at_each_level_ends_too() {
    let loader = MemoryLoader::new().with("main.p4", "#include \"main.p4\"\n#include \"main.p4\"");
    assert_eq!(codes(&run_with(&loader, &PreprocessOptions::default())), ["E0123"]);
}

#[test]
fn guarded_and_once_files_are_read_once() {
    let loader = MemoryLoader::new()
        .with(
            "main.p4",
            "#include \"a.p4\"\n#include \"a.p4\"\n#include \"b.p4\"\n#include \"b.p4\"",
        )
        .with("a.p4", "#ifndef A\n#define A\na\n#endif")
        .with("b.p4", "#pragma once\nb");
    assert_eq!(spelled(&run_with(&loader, &PreprocessOptions::default())), "a b");
}

#[test]
fn a_macro_bomb_ends_with_an_error() {
    let mut text = String::from("#define M0 x x x x x x x x x x\n");
    for level in 1..12 {
        let uses = format!("M{} ", level - 1).repeat(10);
        text.push_str(&format!("#define M{level} {uses}\n"));
    }
    text.push_str("M11");
    let done = run(&text);
    assert_eq!(codes(&done), ["E0101"]);
}

#[test]
fn the_command_line_defines_and_undefines() {
    let options = PreprocessOptions {
        defines: vec![
            ("A".into(), "1".into()),
            ("B".into(), "2".into()),
            ("F(x)".into(), "x + x".into()),
        ],
        undefines: vec!["B".into()],
        ..PreprocessOptions::default()
    };
    let done = run_with(&MemoryLoader::new().with("main.p4", "A B F(3)"), &options);
    assert_eq!((spelled(&done), codes(&done)), ("1 B 3 + 3".into(), vec![]));
}

#[test]
fn a_definition_that_changes_a_macro_is_a_warning_and_one_that_repeats_it_is_not() {
    let done = run("#define A 1\n#define A 1\n#define A 2\nA");
    assert_eq!((codes(&done), spelled(&done)), (vec!["W0110"], "2".to_string()));
    assert_eq!(done.diagnostics[0].severity, Severity::Warning);
}

#[test]
fn error_and_warning_directives_print_their_text() {
    let done = run("#warning take care\n#error don't\nx");
    let said: Vec<&str> = done.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(said, ["take care", "don't"]);
    assert!(!done.diagnostics[0].is_error() && done.diagnostics[1].is_error());
}

#[test]
fn line_directives_change_what_places_are_called() {
    let done = run("#line 100 \"other.p4\"\na\n# 7\nb __LINE__ __FILE__");
    let place = |index: usize| done.sources.location(done.tokens[index].span).unwrap().to_string();
    assert_eq!((place(0), place(1)), ("other.p4:100:1".into(), "other.p4:7:1".into()));
    assert_eq!(spelled(&done), "a b 7 \"other.p4\"");
}

#[test]
fn no_macro_depends_on_the_day() {
    assert_eq!(tokens("__DATE__ __TIME__"), "__DATE__ __TIME__");
}

#[test]
fn a_place_in_a_macro_is_found_at_its_use_and_in_its_definition() {
    let done = run("#define INNER bad\n#define OUTER(x) x INNER\n  OUTER(1)");
    let bad = done.tokens.iter().find(|token| token.spelling() == "bad").unwrap();
    assert_eq!(done.sources.location(bad.span).unwrap().to_string(), "main.p4:3:3");
    let names: Vec<&str> = done.sources.expansions(bad.span).iter().map(|e| &*e.name).collect();
    assert_eq!(names, ["INNER", "OUTER"]);
    let written = done.sources.location(done.sources.spelling(bad.span)).unwrap();
    assert_eq!((written.line, written.column), (1, 15));
    let argument = done.tokens.iter().find(|token| token.spelling() == "1").unwrap();
    assert_eq!(done.sources.location(argument.span).unwrap().to_string(), "main.p4:3:9");
}

#[test]
fn a_place_that_begins_in_a_macro_and_ends_behind_it_covers_both() {
    let done = run("#define A first\nA second");
    let joined = done.tokens[0].span.to(done.tokens[1].span);
    assert_eq!(done.sources.text(joined), "A second");
}

#[test]
fn bytes_that_are_no_utf8_are_read_as_latin1_with_a_warning() {
    let loader = MemoryLoader::new().with("main.p4", b"// caf\xe9\nx \xff".to_vec());
    let done = run_with(&loader, &PreprocessOptions::default());
    assert_eq!((codes(&done), spelled(&done)), (vec!["W0121"], "x \u{ff}".to_string()));
    assert_eq!(done.sources.location(done.diagnostics[0].primary).unwrap().column, 7);
}

#[test]
fn unknown_directives_suggest_the_near_one() {
    let done: Vec<Diagnostic> = run("#inlcude <x>\n#\n#pragma anything goes\n").diagnostics;
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].suggestions[0].replacement, "include");
}

#[test]
fn a_line_with_another_word_behind_the_sign_is_a_remark() {
    let done = run("#enum bit<8> x {\n# recirculate the packet\ny");
    assert_eq!((codes(&done), spelled(&done)), (vec!["W0132", "W0132"], "y".to_string()));
}
