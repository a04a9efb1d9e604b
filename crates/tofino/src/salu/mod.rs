//! The stateful ALU of both chips: its instruction as data, and what one access to memory does.
//!
//! Uses the math unit only. Must not depend on P4: register actions are compiled to
//! [`Instruction`]s elsewhere, and raw configurations arrive through [`run_salu_json`].
//!
//! Sources: TNA p. 62-65; the public reference model of the chip, whose design-verification
//! vectors this folder reproduces bit by bit (`tests/salu_vectors.rs`).

mod alu_trace;
pub(crate) mod decoded;
mod display;
mod execute;
mod instruction;
mod json;
#[cfg(test)]
pub(crate) mod random;
mod special;

pub use alu_trace::by_unit;
pub use decoded::{Done, Ready};
pub use execute::{Fetched, Outcome, Shared, compare, execute, update};
pub use instruction::{
    AluOp, ArithmeticOp, Change, Compare, Constant, Division, Instruction, LogicOp, MemoryOperand,
    Number, OUTPUTS, Opcode, OperandA, OperandB, Output, OutputSource, PhvOperand, PredicateMask,
    PredicateOutput, Relation, Search, Sense, Special, Update, Width, Word,
};
pub use json::{SaluJsonError, run_salu_json};
