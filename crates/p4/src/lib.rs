//! The P4-16 language: source text to diagnostics, typed tree, IR; and an interpreter for it.
//!
//! Stands on nothing but general libraries. It knows no architecture: what a target offers reaches
//! it as declarations in the files that a program includes.

pub mod diagnostic;
pub mod lex;
pub mod parse;
pub mod preprocess;
pub mod source;

pub mod ast;
pub mod check;
pub mod types;
pub mod hir;
pub mod ir;
pub mod elaborate;
pub mod interp;

mod compile;
pub use compile::{CompileError, Compiled, check_program, compile, compile_with};
