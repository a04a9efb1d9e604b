//! Behaviour of the parser, on small programs of our own.

mod diagnostics;
mod robustness;
mod shapes;

use super::parse_program;
use crate::{
    ast,
    diagnostic::{Diagnostic, RenderOptions, render_all},
    preprocess::{MemoryLoader, PreprocessOptions},
    source::SourceMap,
};

/// Parses bytes as the program `main.p4`.
fn parse_bytes(bytes: &[u8]) -> (ast::Program, SourceMap, Vec<Diagnostic>) {
    let loader = MemoryLoader::new().with("main.p4", bytes);
    parse_program(&loader, "main.p4", &PreprocessOptions::default())
}

/// Parses a program that must be flawless.
fn program(text: &str) -> ast::Program {
    let (program, sources, diagnostics) = parse_bytes(text.as_bytes());
    let shown = render_all(&diagnostics, &sources, &RenderOptions::default());
    assert!(diagnostics.is_empty(), "{shown}");
    program
}

/// Rendered diagnostics of a program.
fn shown(text: &str) -> String {
    let (_, sources, diagnostics) = parse_bytes(text.as_bytes());
    render_all(&diagnostics, &sources, &RenderOptions::default())
}

/// The codes of a program's diagnostics.
fn codes(text: &str) -> Vec<&'static str> {
    parse_bytes(text.as_bytes()).2.iter().map(|diagnostic| diagnostic.code).collect()
}
