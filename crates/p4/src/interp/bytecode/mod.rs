//! Bytecode of units, which processes packets.
//!
//! A unit's statements become one list of operations on the frame's slots when the program is
//! loaded. Expressions become operations with temporaries behind the slots of all units, structured
//! control flow becomes jumps, and headers become fixed shifts. Values of at most 64 bits are
//! computed in one machine word. Wide or rare expressions and statements are left to the tree walk,
//! and so is a whole unit whose bytecode would differ from it in any bit. The tree (`exec.rs`)
//! defines the semantics; bytecode only executes faster.
//!
//! `code.rs` defines the operations, `dataflow.rs` queries on them. `build.rs` generates them from
//! statements, `value.rs` from expressions and `assemble.rs` from calls for which an architecture
//! has code. `header.rs` and `select.rs` are headers and selects, `parser_cycles.rs` analyses parsers,
//! `op_fusion.rs` fuses adjacent operations, and `header_elision.rs` finds headers that need not be
//! written. `run.rs` executes; `direct.rs` executes what is nearly all machine code. `fields.rs`
//! offers the writer of headers to externs.

mod assemble;
mod build;
pub(super) mod code;
pub(super) mod dataflow;
mod direct;
mod fields;
pub(super) mod header;
mod header_elision;
mod op_fusion;
mod parser_cycles;
mod run;
mod select;
mod value;

pub use assemble::{Assembler, Calls, NoCode};
pub(super) use code::{End, Op, UnitCode};
pub(super) use direct::Direct;
pub use fields::FieldList;
pub(super) use header::ROOM;
pub(super) use run::ResumePoint;

use super::unit_chain::Plan;
use crate::ir::Program;

/// Bytecode of all units of a program; `None` for those that the tree executes.
pub(super) fn build(program: &Program, calls: &dyn Calls) -> Vec<Option<UnitCode>> {
    program.units.iter().map(|unit| build::unit(program, unit, calls)).collect()
}

/// Bytecode of a chain of units, with `inputs` further slots for the caller.
pub(super) fn chain(
    program: &Program,
    plan: &Plan<'_>,
    inputs: usize,
    calls: &dyn Calls,
) -> Option<UnitCode> {
    build::chain(program, plan, inputs, calls)
}
