//! The P4-16 language: source text to diagnostics, typed tree, IR; and an interpreter for it.
//!
//! Stands on nothing but general libraries. It knows no architecture: what a target offers reaches
//! it as declarations in the files that a program includes.

// From text to tree.
pub mod ast;
pub mod diagnostic;
pub mod lex;
pub mod parse;
pub mod preprocess;
pub mod source;

// From tree to meaning.
pub mod check;
pub mod hir;
pub mod types;

// From meaning to execution.
pub mod declared;
pub mod elaborate;
pub mod interp;
pub mod ir;

mod compile;
pub use compile::{CompileError, Compiled, check_program, compile, compile_with};
