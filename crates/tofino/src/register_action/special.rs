//! Division and searches of a register action, fitted to the units that Tofino 2 has for them.
//!
//! An action has one of either. What it computes can only be put out (`output`), and a search also
//! changes the element that it finds.

use super::body::Assignment;
use super::resources::{Resources, Row};
use super::term::{Half, SearchTerm, Term, TermKind};
use crate::rules::{self, Refusal};
use crate::salu::{
    Change, Constant, Division, Instruction, MemoryOperand, Number, PhvOperand, Search, Special,
    Word,
};
use sojourn_p4::source::Span;

/// The special unit that the assignments use, if they use one.
pub fn fit(
    outcomes: &[Vec<Assignment>],
    shared: &mut Resources<'_>,
) -> Result<Option<Special>, Refusal> {
    let mut used: Option<(Special, Span)> = None;
    for Assignment { term, .. } in outcomes.iter().flatten() {
        let Some(special) = special(term, shared)? else { continue };
        match used {
            Some((other, first)) if other != special => {
                let message = "a second, different division or search in one register action";
                let refused = rules::SEARCH.refuse(term.span, message);
                return Err(refused.with_place(first, "the first"));
            }
            _ => used = Some((special, term.span)),
        }
    }
    Ok(used.map(|(special, _)| special))
}

/// Refuses update ALUs beside a special unit that takes their place.
pub fn check_alus(instruction: &Instruction, span: Span) -> Result<(), Refusal> {
    let Instruction { lo1, lo2, hi1, hi2, special, .. } = instruction;
    let busy = match special {
        Some(Special::Division(_)) => hi2.is_some(),
        Some(Special::Search(_)) => lo1.or(*lo2).or(*hi1).or(*hi2).is_some(),
        None => false,
    };
    if !busy {
        return Ok(());
    }
    let message = "this action also changes the entry in the ALU that the division or search uses";
    Err(rules::SEARCH.refuse(span, message))
}

fn special(term: &Term, shared: &mut Resources<'_>) -> Result<Option<Special>, Refusal> {
    Ok(match &term.kind {
        TermKind::Low(inner) | TermKind::Part(inner, _) => return special(inner, shared),
        TermKind::Quotient(a, b) | TermKind::Remainder(a, b) => {
            let (dividend, divisor) = (word(a, shared)?, word(b, shared)?);
            Some(Special::Division(Division { dividend, divisor }))
        }
        TermKind::Extreme(found) | TermKind::ExtremeIndex(found) => {
            Some(Special::Search(search(found, shared)?))
        }
        _ => None,
    })
}

fn word(term: &Term, shared: &mut Resources<'_>) -> Result<Word, Refusal> {
    Ok(match &term.kind {
        TermKind::Memory(Half::Lo) => Word::Memory(MemoryOperand::Lo),
        TermKind::Memory(Half::Hi) => Word::Memory(MemoryOperand::Hi),
        TermKind::Field(field) => Word::Phv(shared.field(field, term.span)?),
        TermKind::Constant(value) => Word::Constant(shared.constant(*value, term.span)?),
        _ => {
            let message = "this cannot be an operand of a division";
            return Err(rules::ONE_OPERATOR.refuse(term.span, message));
        }
    })
}

/// Mask and change of constants share one row of the register file.
fn search(term: &SearchTerm, shared: &mut Resources<'_>) -> Result<Search, Refusal> {
    let SearchTerm { largest, wide, mask, change } = term;
    let elements = if *wide { 8 } else { 16 };
    let mut row = None;
    let number = match &mask.kind {
        TermKind::Constant(value) => {
            let value = *value as u16 & (u16::MAX >> (16 - elements));
            row = Some(i128::from(value));
            Number::Constant(value)
        }
        _ => field(mask, PhvOperand::Lo, shared)?,
    };
    let change = match change {
        None => None,
        Some(Term { kind: TermKind::Constant(value), span, .. }) => {
            let Ok(by) = u8::try_from(value.unsigned_abs()) else {
                let message = format!("a change by {value}, which is more than 255");
                return Err(rules::SEARCH.refuse(*span, message));
            };
            row = Some(row.unwrap_or(0) | i128::from(by) << elements);
            Some(Change { by: Number::Constant(by.into()), down: *value < 0 })
        }
        Some(Term { kind: TermKind::Negate(inner), .. }) => {
            Some(Change { by: field(inner, PhvOperand::Hi, shared)?, down: true })
        }
        Some(term) => Some(Change { by: field(term, PhvOperand::Hi, shared)?, down: false }),
    };
    if let Some(row) = row {
        let held = shared.row(Row::Constant(row), mask.span)?;
        debug_assert!(matches!(held, Constant::Row(_)));
    }
    Ok(Search { largest: *largest, wide: *wide, mask: number, change })
}

/// A packet field at the place where the unit reads it.
fn field(term: &Term, place: PhvOperand, shared: &mut Resources<'_>) -> Result<Number, Refusal> {
    let TermKind::Field(field) = &term.kind else {
        let message = "this is neither a constant nor a packet field";
        return Err(rules::SEARCH.refuse(term.span, message));
    };
    Ok(Number::Phv(shared.field_at(field, place, term.span)?))
}
