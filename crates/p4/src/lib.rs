//! The P4-16 language: source text to diagnostics, typed tree, IR; and an interpreter for it.
//!
//! Depends on general-purpose libraries only. Must not depend on an architecture: a target's
//! externs reach it as declarations in the files that a program includes.
//!
//! ```
//! use sojourn_p4::interp::{Frame, Interpreter, NoExterns, Tables};
//! use sojourn_p4::preprocess::{MemoryLoader, PreprocessOptions};
//! use sojourn_p4::{ast, check, elaborate, hir, ir, parse, source};
//! use std::sync::Arc;
//!
//! let text = "control Add(inout bit<8> x) { apply { x = x + 1; } }
//!             control Any(inout bit<8> x);
//!             package Box(Any any);
//!             Box(Add()) main;";
//! let loader = MemoryLoader::new().with("add.p4", text);
//! let (tree, sources, _): (ast::Program, source::SourceMap, _) =
//!     parse::parse_program(&loader, "add.p4", &PreprocessOptions::default());
//! let typed: hir::Program = check::check(&tree, &sources).0.expect("no mistake");
//! let program: Arc<ir::Program> = Arc::new(elaborate::elaborate(&typed).expect("no mistake"));
//! assert_eq!(program.declared.tables.len(), 0);
//!
//! let mut frame = Frame::new(&program.units[0]);
//! frame.narrow[0] = 41;
//! let (tables, interpreter) = (Tables::new(program.clone()), Interpreter::new(program));
//! interpreter.run_control(ir::UnitId(0), &mut frame, None, &tables, &mut NoExterns)?;
//! assert_eq!(frame.narrow[0], 42);
//! # Ok::<(), sojourn_p4::interp::Halt>(())
//! ```

// From text to tree.
pub mod ast;
pub mod diagnostic;
pub mod lex;
pub mod parse;
pub mod preprocess;
pub mod source;

// From tree to meaning.
pub mod check;
mod escape;
pub mod hir;
pub mod types;

// From meaning to execution.
pub mod declared;
pub mod elaborate;
pub mod interp;
pub mod ir;
pub mod text_wrap;
pub mod visit;

mod compile;
pub use compile::{CompileError, Compiled, check_program, compile, compile_with};
