//! Assignments to one thing that could happen together.

use super::{Assignment, Destination, Result};
use crate::register_action::resources::Resources;
use crate::rules;
use sojourn_p4::source::Span;

/// The outcomes in which a statement assigns to a destination, with a place.
struct Writer {
    to: Destination,
    statement: usize,
    mask: u16,
    zero: bool,
    span: Span,
}

/// Rejects two assignments to one destination that happen in exactly the same outcomes, or of which
/// one always happens; two that sometimes happen together are OR-ed, with a warning.
pub(super) fn check_exclusive(
    outcomes: &[Vec<Assignment>],
    shared: &mut Resources<'_>,
) -> Result<()> {
    let mut writers: Vec<Writer> = Vec::new();
    for (outcome, assignments) in outcomes.iter().enumerate() {
        for Assignment { to, term, statement } in assignments {
            let known = writers.iter_mut().find(|w| w.to == *to && w.statement == *statement);
            match known {
                Some(writer) => {
                    writer.mask |= 1 << outcome;
                    writer.zero &= term.is_zero();
                }
                None => writers.push(Writer {
                    to: *to,
                    statement: *statement,
                    mask: 1 << outcome,
                    zero: term.is_zero(),
                    span: term.span,
                }),
            }
        }
    }
    let always = u16::MAX >> (16 - outcomes.len());
    writers.sort_by_key(|writer| writer.statement);
    for (index, second) in writers.iter().enumerate() {
        for first in writers[..index].iter().filter(|first| first.to == second.to) {
            // A zero that is always there takes nothing from what is OR-ed to it.
            let switched_off = first.zero && first.mask == always;
            if first.mask & second.mask == 0 || switched_off {
                continue;
            }
            let certain =
                first.mask == second.mask || first.mask == always || second.mask == always;
            let message = "a second assignment on the same path";
            if certain {
                let refused = rules::EXCLUSIVE_WRITES.refuse(second.span, message);
                return Err(refused.with_place(first.span, "the first"));
            }
            let warning = rules::BOTH_WRITE.warning(second.span, message);
            shared.warnings.push(warning.with_place(first.span, "the first"));
        }
    }
    Ok(())
}
