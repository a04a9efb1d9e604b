//! Operands of action data (T1020, T1021), after `bf-p4c/mau/instruction_selection.cpp`.
//!
//! An instruction has two sources: the first is a container, a small constant or action data, the second
//! a container. So action data is the first source or none, and a subtraction does not exchange its
//! sources. It stands on the evaluated expressions and must not depend on stages.

use super::values::Evaluated;
use crate::constant_folding::constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Slot, Unary};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Checks an expression that an action of a table computes.
pub fn check(evaluated: &Evaluated, found: &mut Vec<Diagnostic>) {
    if !evaluated.data.is_empty() {
        operations(&evaluated.expr, &evaluated.data, found);
    }
}

fn operations(expr: &Expr, data: &HashSet<Slot>, found: &mut Vec<Diagnostic>) {
    if let Some(diagnostic) = fault(expr, data) {
        found.push(diagnostic);
        return;
    }
    visit::operands(expr).into_iter().for_each(|operand| operations(operand, data, found));
}

fn fault(expr: &Expr, data: &HashSet<Slot>) -> Option<Diagnostic> {
    let is_data = |operand: &Expr| is_data(operand, data);
    let subtracts = match &expr.kind {
        ExprKind::Unary(Unary::Negate, a) => is_data(a),
        ExprKind::Binary(Binary::Sub | Binary::SatSub, _, b) => is_data(b),
        _ => false,
    };
    if subtracts {
        let refused = rules::DATA_SUBTRACTED.refuse(expr.span, "action data is subtracted");
        return Some(refused.into());
    }
    let ExprKind::Binary(op, a, b) = &expr.kind else { return None };
    let combines = matches!(
        op,
        Binary::Add
            | Binary::Sub
            | Binary::SatAdd
            | Binary::SatSub
            | Binary::BitAnd
            | Binary::BitOr
            | Binary::BitXor
    );
    let shifts = matches!(op, Binary::Shl | Binary::Shr) && constant(b).is_some() && is_data(a);
    (shifts || combines && is_data(a) && is_data(b)).then(|| {
        let message = "an instruction computes with action data alone";
        rules::DATA_ALONE.refuse(expr.span, message).into()
    })
}

/// True for action data, a part of it, or one made wider.
fn is_data(expr: &Expr, data: &HashSet<Slot>) -> bool {
    match &expr.kind {
        ExprKind::Slot(slot) => data.contains(slot),
        ExprKind::Cast(a) | ExprKind::Slice(a, _) => is_data(a, data),
        _ => false,
    }
}
