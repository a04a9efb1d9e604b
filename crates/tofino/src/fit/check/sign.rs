//! Signs repeated in conditions (T1003) and over more than 16 bits (T1030), after `FormatHash` in
//! `bf-p4c/mau/hash_function.cpp`.
//!
//! A hash repeats the sign. What is looked at is what reaches a header, or metadata that is read
//! whole: the compiler drops extensions into metadata whose upper bits nothing reads.

use super::values::{Evaluated, Executor};
use crate::fit::bits::{Bits, Place, is_constant};
use crate::fit::live::header_fields;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Slot, Unit};
use sojourn_p4::visit;

/// The most bits of a number whose sign is repeated.
const EXTENDED_BITS: u32 = 16;

/// Checks what a control evaluates.
pub fn check(unit: &Unit, all: &[&Evaluated], found: &mut Vec<Diagnostic>) {
    let Some(headers) = unit.params.first() else { return };
    for evaluated in all {
        if evaluated.by == Executor::Gateway && repeats(&evaluated.expr) {
            let message = "a condition repeats a sign";
            found.push(rules::CONDITION_ARITHMETIC.refuse(evaluated.at, message).into());
        }
        let Executor::Instruction(Some(Bits { place, .. })) = evaluated.by else { continue };
        let expr = &evaluated.expr;
        if let Some(bits) = extended(expr, 0, expr.scalar.width())
            && (header_fields(&headers.layout).contains(&place) || is_read_whole(all, place))
        {
            let message = format!("repeats a sign over {bits} bits");
            found.push(rules::SIGN_EXTENDED.refuse(evaluated.at, message).into());
        }
    }
}

/// True if an expression widens a signed field.
fn repeats(expr: &Expr) -> bool {
    let widens = |inner: &Expr| {
        inner.scalar.is_signed()
            && inner.scalar.width() < expr.scalar.width()
            && !is_constant(inner)
    };
    matches!(&expr.kind, ExprKind::Cast(inner) if widens(inner))
        || visit::operands(expr).into_iter().any(repeats)
}

/// True if a control reads all bits of a variable, other than to write it again.
pub fn is_read_whole(all: &[&Evaluated], place: Place) -> bool {
    let Place::Narrow(slot) = place else { return false };
    all.iter().any(|evaluated| {
        let writes = matches!(evaluated.by, Executor::Instruction(Some(to)) if to.place == place);
        !writes && reads_whole(&evaluated.expr, slot, evaluated.expr.scalar.width())
    })
}

fn reads_whole(expr: &Expr, slot: Slot, wanted: u32) -> bool {
    match &expr.kind {
        ExprKind::Slot(read) => *read == slot && wanted >= expr.scalar.width(),
        ExprKind::Cast(inner) => reads_whole(inner, slot, wanted.min(inner.scalar.width())),
        ExprKind::Slice(inner, low) => reads_whole(inner, slot, wanted + low),
        _ => {
            let operands = visit::operands(expr);
            operands.into_iter().any(|part| reads_whole(part, slot, part.scalar.width()))
        }
    }
}

/// Bits up to which an expression, of which `wanted` bits from `low` on are used, repeats a sign,
/// if they are too many. Bits that do not begin at the lowest are taken of the whole result.
fn extended(expr: &Expr, low: u32, wanted: u32) -> Option<u32> {
    match &expr.kind {
        ExprKind::Cast(inner) => {
            let width = inner.scalar.width();
            let repeats = inner.scalar.is_signed() && low + wanted > width && !is_constant(inner);
            let bits = if low == 0 { wanted } else { expr.scalar.width() };
            if repeats && bits > EXTENDED_BITS {
                return Some(bits);
            }
            extended(inner, low, wanted.min(width.saturating_sub(low)))
        }
        ExprKind::Slice(inner, by) => extended(inner, low + by, wanted),
        ExprKind::Binary(
            Binary::Add | Binary::Sub | Binary::BitAnd | Binary::BitOr | Binary::BitXor,
            a,
            b,
        ) => extended(a, low, wanted).or_else(|| extended(b, low, wanted)),
        _ => None,
    }
}
