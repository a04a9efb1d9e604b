//! Tests of the parser's diagnostics for invalid programs.

use super::{codes, parse_bytes, shown};
use crate::{
    diagnostic::to_json,
    preprocess::{MemoryLoader, PreprocessOptions},
};
use insta::assert_snapshot;

#[test]
fn a_missing_semicolon_is_shown_behind_the_line_it_belongs_to() {
    assert_snapshot!(shown("struct S {\n    bit<8> a\n    bit<8> b;\n}\n"));
}

#[test]
fn a_misspelt_declaration_is_mended_and_what_follows_is_read() {
    assert_snapshot!(shown("heeder h_t { bit<8> a; }\ncontorl C() { apply { h_t h; } }\n"));
}

#[test]
fn a_misspelt_statement_is_mended() {
    assert_snapshot!(shown(
        "control C() {\n    tabel t { key = { } }\n    apply {\n        swich (x) { }\n        retrun;\n    }\n}\n"
    ));
}

#[test]
fn several_errors_are_reported_in_one_run() {
    assert_snapshot!(shown(
        "const bit<8> a = ;\nconst bit<8> b = 8w;\nstruct S { bit<W> x; }\nconst bit<8> c = (1 + 2;\n"
    ));
}

#[test]
fn an_unclosed_brace_is_shown_where_it_was_opened() {
    assert_snapshot!(shown(
        "control C() {\n    apply {\n        if (a) {\n            b = 1;\n    }\n}\n\ncontrol D() {\n    apply { }\n}\n"
    ));
}

#[test]
fn an_error_inside_a_macro_shows_the_use_and_the_definition() {
    assert_snapshot!(shown(
        "#define FIELD(name) bit<8> name\n#define BOTH FIELD(a) FIELD(b)\nstruct S {\n    BOTH;\n}\n"
    ));
}

#[test]
fn an_error_in_an_included_file_reports_the_way_to_it() {
    let loader = MemoryLoader::new()
        .with("main.p4", "\n#include \"lib/a.p4\"\n")
        .with("lib/a.p4", "#include \"b.p4\"\n")
        .with("lib/b.p4", "struct {\n}\n");
    let (_, sources, found) =
        crate::parse::parse_program(&loader, "main.p4", &PreprocessOptions::default());
    assert_snapshot!(crate::diagnostic::render_all(&found, &sources, &Default::default()));
}

#[test]
fn a_keyword_is_no_name() {
    assert_snapshot!(shown("control C() {\n    action default() { }\n    apply { }\n}\n"));
}

#[test]
fn a_type_is_no_value_and_no_function() {
    assert_snapshot!(shown("struct S { }\nconst bool a = S > 3;\nconst bit<8> b = bit<8>(3);\n"));
}

#[test]
fn a_control_without_apply_and_a_parser_without_states_are_refused() {
    assert_snapshot!(shown("control C() {\n    bit<8> x;\n}\nparser P() {\n}\n"));
}

#[test]
fn statements_that_do_not_fit_where_they_stand_are_refused() {
    assert_snapshot!(shown(
        "control C() {\n    apply {\n        a + 1;\n        f() = 3;\n        x;\n        else { }\n    }\n}\n\
         parser P() {\n    state start {\n        return;\n    }\n}\n"
    ));
}

#[test]
fn a_misspelt_table_property_suggests_the_near_one() {
    assert_snapshot!(shown(
        "control C() {\n    table t {\n        keys { a: exact; }\n        actoins = { b; }\n    }\n    apply { }\n}\n"
    ));
}

#[test]
fn c_idioms_are_answered_with_the_p4_form() {
    assert_snapshot!(shown(
        "bit<8> counter;\nstruct S { bit<8> a[4]; }\ncontrol C() {\n    apply {\n        for (i in 1..6) { }\n        x = a ? 1 : b ? 2 : 3;\n    }\n}\n"
    ));
}

#[test]
fn a_program_in_the_older_language_gives_one_error() {
    assert_snapshot!(shown(
        "header_type ethernet_t {\n    fields { dst : 48; }\n}\nheader ethernet_t ethernet;\n"
    ));
}

#[test]
fn signs_that_no_token_begins_with_are_named() {
    assert_snapshot!(shown("const bit<8> a = 3 $ 4;\nconst bit<8> b = \u{1};\n"));
}

#[test]
fn missing_files_say_where_they_were_searched() {
    let loader = MemoryLoader::new().with("src/main.p4", "#include <core.p4>\n#include \"x.p4\"\n");
    let include_paths = vec!["p4/include".into()];
    let options = PreprocessOptions { include_paths, ..PreprocessOptions::default() };
    let (_, sources, found) = crate::parse::parse_program(&loader, "src/main.p4", &options);
    assert_snapshot!(crate::diagnostic::render_all(&found, &sources, &Default::default()));
}

#[test]
fn a_long_line_and_a_long_message_fit_the_terminal() {
    let text = format!("const bit<8> {} = 1 {} 2;\n", "x".repeat(150), "y".repeat(150));
    let output = shown(&text);
    assert!(output.lines().all(|line| line.chars().count() <= 100), "{output}");
}

#[test]
fn deep_nesting_is_refused_with_one_error() {
    assert_snapshot!(shown(&format!("const bit<8> a =\n{}1;\n", "-".repeat(250))));
}

#[test]
fn json_has_places_and_cures() {
    let (_, sources, found) = parse_bytes(b"#define M contorl\nM C() { apply { } }\n");
    let json = to_json(&found[0], &sources);
    assert_eq!((&json["place"]["line"], &json["place"]["column"]), (&2.into(), &1.into()));
    assert_eq!(json["suggestions"][0]["replacement"], "control");
    assert_eq!(json["expansions"][0]["definition"]["column"], 11);
    assert_eq!((&json["severity"], &json["code"]), (&"error".into(), &"E0304".into()));
}

#[test]
fn an_error_costs_its_declaration_only() {
    let (program, _, found) = parse_bytes(
        b"const bit<8> a = 1;\nconst bit<8> = 2;\nstruct S { bit<8> x; bit< y; bit<8> z; }\nconst bit<8> b = 3;\n",
    );
    assert_eq!((program.declarations.len(), found.len()), (3, 2));
}

#[test]
fn one_slip_gives_one_error() {
    for text in [
        "control C() { apply { x = { 2, f = 5 }; y = 1; } }",
        "parser P() { state start { transition select(a) { 1 accept; 2: x; } } }",
        "control C() { table t { key = { a exact; b: lpm; } actions = { x; } } apply { } }",
        "extern E { void f(in bit<8> x, ); void g(); }",
        "struct S { bit<8> x; } }\nconst bit<8> a = 1;",
        "control C() { action a( { } apply { } }",
        "control C() { apply { f(1, 2; g(); } }",
        "enum E { A B, C }",
    ] {
        assert_eq!(codes(text).len(), 1, "{text}\n{}", shown(text));
    }
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    let (_, sources, found) = parse_bytes(b"const bit<8> a = ;\n");
    let options = crate::diagnostic::RenderOptions { colour: true, ..Default::default() };
    let coloured = crate::diagnostic::render(&found[0], &sources, &options);
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_ne!(coloured, plain);
    assert_eq!(plain, crate::diagnostic::render(&found[0], &sources, &Default::default()));
}
