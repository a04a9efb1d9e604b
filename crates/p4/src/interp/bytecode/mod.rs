//! Units as flat code: what packets run on.
//!
//! A unit's statements become one list of operations on the frame's slots, prepared when the program is
//! loaded: expressions are taken apart into operations with temporaries behind the slots of all units,
//! structured control flow into jumps, headers into shifts that are known beforehand. Values of at most
//! 64 bits are computed in one machine word. What is wide or rare is left to the walk of the tree, one
//! expression or one statement at a time, and so is a whole unit where code would not do the same to the
//! last bit. The tree (`exec.rs`) says what is right; here is the same, faster.
//!
//! `code.rs` has the operations, `around.rs` what can be said of all of them; `build.rs` makes them of
//! statements, `value.rs` of expressions and `assemble.rs` of calls that an architecture has code for;
//! `header.rs` and `select.rs` are headers and selects, `states.rs` looks at parsers as a whole,
//! `join.rs` makes one operation of several, and `kept.rs` finds headers
//! that need not be written. `run.rs` executes, `direct.rs` what machine code does nearly
//! alone. `fields.rs` lends the writer of headers to externs.

mod assemble;
mod build;
pub(super) mod code;
pub(super) mod dataflow;
mod direct;
mod fields;
pub(super) mod header;
mod header_elision;
mod op_fusion;
mod run;
mod select;
mod states;
mod value;

pub use assemble::{Assembler, Calls, NoCode};
pub(super) use code::{End, Op, UnitCode};
pub(super) use direct::Direct;
pub use fields::FieldList;
pub(super) use header::ROOM;
pub(super) use run::ResumePoint;

use super::chain::Plan;
use crate::ir::Program;

/// The code of all units of a program; none for those that are left to the tree.
pub(super) fn build(program: &Program, calls: &dyn Calls) -> Vec<Option<UnitCode>> {
    program.units.iter().map(|unit| build::unit(program, unit, calls)).collect()
}

/// The code of a chain of units, with so many slots for whoever runs it.
pub(super) fn chain(
    program: &Program,
    plan: &Plan<'_>,
    inputs: usize,
    calls: &dyn Calls,
) -> Option<UnitCode> {
    build::chain(program, plan, inputs, calls)
}
