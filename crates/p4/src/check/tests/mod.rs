//! Behaviour of the checker, on small programs.

mod blocks;
mod calls;
mod messages;
mod robustness;
mod values;

use super::check;
use crate::diagnostic::{Diagnostic, RenderOptions, render_all};
use crate::hir;
use crate::parse::parse_program;
use crate::preprocess::{MemoryLoader, PreprocessOptions};
use crate::source::SourceMap;

/// The part of a core library that these programs need.
const CORE: &str = "error { NoError, NoMatch }\n\
    match_kind { exact, ternary, lpm, range }\n\
    action NoAction() {}\n\
    extern packet_in { void extract<T>(out T hdr); T lookahead<T>(); }\n\
    extern bool static_assert(bool check, string message);\n";

fn checked(text: &str) -> (Option<hir::Program>, SourceMap, Vec<Diagnostic>) {
    let loader = MemoryLoader::new()
        .with("core.p4", CORE)
        .with("main.p4", format!("#include \"core.p4\"\n{text}"));
    let (program, sources, mut diagnostics) =
        parse_program(&loader, "main.p4", &PreprocessOptions::default());
    assert!(diagnostics.is_empty(), "{}", shown(&diagnostics, &sources));
    let (typed, said) = check(&program, &sources);
    diagnostics.extend(said);
    (typed, sources, diagnostics)
}

fn shown(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    render_all(diagnostics, sources, &RenderOptions::default())
}

/// The typed tree of a program without errors.
fn typed(text: &str) -> hir::Program {
    let (program, sources, diagnostics) = checked(text);
    assert!(diagnostics.is_empty(), "{}", shown(&diagnostics, &sources));
    program.expect("a program without errors has a typed tree")
}

/// Rendered diagnostics of a program.
fn messages(text: &str) -> String {
    let (_, sources, diagnostics) = checked(text);
    shown(&diagnostics, &sources)
}

/// The codes of a program's diagnostics.
fn codes(text: &str) -> Vec<&'static str> {
    checked(text).2.iter().map(|diagnostic| diagnostic.code).collect()
}

/// The diagnostics of statements in a control that has variables of many types.
fn in_control(statements: &str) -> String {
    format!(
        "header H {{ bit<8> f; bit<16> g; }}\n\
         struct S {{ bit<8> a; bool b; }}\n\
         enum bit<8> E {{ one = 1, two = 2 }}\n\
         type bit<9> Port;\n\
         control c(inout bit<8> x, in bit<16> y, inout int<8> z, inout H h) {{\n\
         S s; E e; H[4] hs; Port p; bool t; tuple<bit<8>, bool> u;\n\
         apply {{ {statements} }} }}\n"
    )
}
