//! Expressions that need no ALU: fields, slices and concatenations of them, constants.
//!
//! A parser copies such a value, a deparser reads it; everything else needs an instruction of a
//! match-action stage. Uses the IR's expressions.

use sojourn_p4::ir::{Binary, Expr, ExprKind};
use sojourn_p4::visit;

/// The first part of an expression that has to be computed; none if it consists of fields.
pub fn computed(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Const(_)
        | ExprKind::WideConst(_)
        | ExprKind::Slot(_)
        | ExprKind::WideSlot(_)
        | ExprKind::Lookahead { .. } => None,
        // A wider value that was signed repeats its sign.
        ExprKind::Cast(inner)
            if inner.scalar.is_signed() && inner.scalar.width() < expr.scalar.width() =>
        {
            computed(inner).or(Some(expr))
        }
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => computed(inner),
        ExprKind::Binary(Binary::Concat, a, b) => computed(a).or_else(|| computed(b)),
        ExprKind::Guarded { read, .. } => computed(read),
        // A stack's element that a field chooses is a rule of its own.
        ExprKind::Element { .. } | ExprKind::WideElement { .. } => None,
        _ => Some(expr),
    }
}

/// The index of a stack in an expression that is no constant.
pub fn variable_index(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Element { index, .. } | ExprKind::WideElement { index, .. } => Some(index),
        _ => visit::operands(expr).into_iter().find_map(variable_index),
    }
}
