//! Validities as operands beside fields (T1031).
//!
//! The compiler adds two validities, and adds a constant to one; it subtracts and shifts them.

use super::values::{Evaluated, Executor};
use crate::fit::bits::is_constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Unit};
use sojourn_p4::visit;

/// Checks an expression that an instruction computes.
pub fn check(unit: &Unit, evaluated: &Evaluated, found: &mut Vec<Diagnostic>) {
    if matches!(evaluated.by, Executor::Instruction(_)) && combined(unit, &evaluated.expr) {
        let message = "computes with a field and the validity of a header";
        found.push(rules::VALIDITY_OPERAND.refuse(evaluated.at, message).into());
    }
}

/// True if an operation of an expression has a validity and a field as operands.
fn combined(unit: &Unit, expr: &Expr) -> bool {
    if let ExprKind::Binary(op, a, b) = &expr.kind
        && matches!(
            op,
            Binary::Add | Binary::SatAdd | Binary::BitAnd | Binary::BitOr | Binary::BitXor
        )
    {
        let beside = |one: &Expr, other: &Expr| {
            is_validity(unit, one) && !is_validity(unit, other) && !is_constant(other)
        };
        if beside(a, b) || beside(b, a) {
            return true;
        }
    }
    visit::operands(expr).into_iter().any(|operand| combined(unit, operand))
}

/// True for the validity of a header as a number.
fn is_validity(unit: &Unit, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Cast(inner) => is_validity(unit, inner),
        ExprKind::Slot(slot) => unit.validity_of(*slot).is_some(),
        _ => false,
    }
}
