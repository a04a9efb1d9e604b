//! Actions of one-bit registers: set, clear or keep the bit, and return its previous value.

use super::body::{Assignment, Destination};
use super::term::{Half, Term, TermKind};
use crate::rules::{self, Refusal};
use crate::salu::{
    AluOp, Constant, Instruction, LogicOp, MemoryOperand, OperandA, OperandB, Output, OutputSource,
    PredicateMask, Update,
};

/// Fits the assignments of an action without conditions to a one-bit instruction.
pub fn fit(assignments: &[Assignment], instruction: &mut Instruction) -> Result<(), Refusal> {
    for Assignment { to, term, .. } in assignments {
        match to {
            Destination::Memory(_) => instruction.lo1 = Some(write(term)?),
            Destination::Output(at) => instruction.outputs[*at] = read(term)?,
        }
    }
    Ok(())
}

fn write(term: &Term) -> Result<Update, Refusal> {
    let table = match term.kind {
        TermKind::Constant(0) => LogicOp::CLEAR,
        TermKind::Constant(_) => LogicOp::SET,
        TermKind::Memory(_) => LogicOp::A,
        _ => return Err(rules::ONE_BIT.refuse(term.span, "a bit that is computed")),
    };
    Ok(Update {
        op: AluOp::Logic(table),
        a: OperandA::Memory(MemoryOperand::Lo),
        b: OperandB::Constant,
        constant: Constant::Immediate(0),
        predicate: PredicateMask::ALWAYS,
    })
}

/// The output is the old bit, even if the text reads the bit after assigning to it.
fn read(term: &Term) -> Result<Option<Output>, Refusal> {
    let complement = match &term.kind {
        TermKind::Constant(0) => return Ok(None),
        TermKind::Memory(Half::Lo) | TermKind::Updated(Half::Lo) => false,
        TermKind::Complement(inner) if matches!(inner.kind, TermKind::Memory(_)) => true,
        _ => return Err(rules::ONE_BIT.refuse(term.span, "an output other than the old bit")),
    };
    Ok(Some(Output {
        source: OutputSource::Memory(MemoryOperand::Lo),
        predicate: PredicateMask::ALWAYS,
        complement,
    }))
}
