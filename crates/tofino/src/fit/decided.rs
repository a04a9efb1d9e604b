//! Conditions whose outcome is the same for every value of the fields: `x < 0` without a sign, a byte
//! above 255, `x & 2 == 1`.
//!
//! The back end writes a condition as a match of bits and drops what can never match; what such a
//! condition guards, or leaves out, costs nothing. It stands on the IR's expressions and must not
//! depend on nodes or stages.

use super::bits::is_constant;
use crate::constant_folding::fold;
use sojourn_p4::interp::arith::mask;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Unary};

/// The outcome of a condition, if it does not depend on any field.
pub fn outcome(condition: &Expr) -> Option<bool> {
    let mut folded = condition.clone();
    fold(&mut folded);
    decided(&folded)
}

fn decided(condition: &Expr) -> Option<bool> {
    match &condition.kind {
        ExprKind::Const(value) => Some(*value != 0),
        ExprKind::Unary(Unary::Not, a) => decided(a).map(|outcome| !outcome),
        ExprKind::Binary(Binary::And, a, b) => match (decided(a), decided(b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), outcome) | (outcome, Some(true)) => outcome,
            _ => None,
        },
        ExprKind::Binary(Binary::Or, a, b) => match (decided(a), decided(b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), outcome) | (outcome, Some(false)) => outcome,
            _ => None,
        },
        ExprKind::Binary(op, a, b) if !a.scalar.is_signed() => {
            compared(*op, possible(a)?, possible(b)?)
        }
        _ => None,
    }
}

/// The bits that an unsigned value may have set: its largest value, and which are free.
#[derive(Clone, Copy)]
struct Possible {
    /// Bits that are not always 0; the value is at most this.
    may: u128,
    /// Bits that are always 1; the value is at least this.
    must: u128,
}

fn possible(expr: &Expr) -> Option<Possible> {
    let width = expr.scalar.width();
    if !expr.scalar.is_narrow() || expr.scalar.is_signed() || width == 0 {
        return None;
    }
    let all = mask(width);
    let found = match &expr.kind {
        ExprKind::Const(value) => Possible { may: *value, must: *value },
        ExprKind::Cast(inner) => possible(inner)?,
        ExprKind::Binary(Binary::BitAnd, a, b) if is_constant(a) || is_constant(b) => {
            let (a, b) = (possible(a)?, possible(b)?);
            Possible { may: a.may & b.may, must: a.must & b.must }
        }
        ExprKind::Binary(Binary::BitOr, a, b) if is_constant(a) || is_constant(b) => {
            let (a, b) = (possible(a)?, possible(b)?);
            Possible { may: a.may | b.may, must: a.must | b.must }
        }
        _ => Possible { may: all, must: 0 },
    };
    Some(Possible { may: found.may & all, must: found.must & all })
}

/// The outcome of a comparison of values with these bits.
fn compared(op: Binary, a: Possible, b: Possible) -> Option<bool> {
    let apart = a.must & !b.may != 0 || b.must & !a.may != 0;
    match op {
        Binary::Eq if apart => Some(false),
        Binary::Ne if apart => Some(true),
        Binary::Lt if a.may < b.must => Some(true),
        Binary::Lt if a.must >= b.may => Some(false),
        Binary::Le if a.may <= b.must => Some(true),
        Binary::Le if a.must > b.may => Some(false),
        Binary::Gt => compared(Binary::Lt, b, a),
        Binary::Ge => compared(Binary::Le, b, a),
        _ => None,
    }
}
