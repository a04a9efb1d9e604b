//! Comparisons and choices in actions (T1016): p4c's `Predication` makes `?:` of an `if` in an
//! action, and `bf-p4c/mau/instruction_selection.cpp` takes two forms of `?:`.
//!
//! | form | instruction |
//! |---|---|
//! | `a < b ? a : b` and its like, of two fields or a field and a constant | minimum, maximum |
//! | `data ? constant or action data : field`, asked of one parameter alone | conditional set |
//!
//! `data` is a truth value or a bit that is set, or a number that is not 0. `Predication` refuses every
//! other statement under such an `if`: a call, `exit`, `return`.

use super::instruction::is_field;
use super::values::{Choice, Evaluated};
use crate::constant_folding::constant;
use crate::fit::bits::{is_condition, is_constant, is_plain};
use crate::register_action::same_expression;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Label, Slot, Stmt, StmtKind, Unit};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Checks a value that an instruction computes.
pub fn check(unit: &Unit, evaluated: &Evaluated, found: &mut Vec<Diagnostic>) {
    // The elaborator's own variables hold results of tables, which no instruction compares.
    if !reads_temporary(unit, &evaluated.expr) {
        match &evaluated.expr.kind {
            ExprKind::Mux(condition, a, b) if is_supplied(condition, a, b, &evaluated.data) => {}
            _ => values(&evaluated.expr, found),
        }
    }
}

/// True for `data ? constant or data : field`.
fn is_supplied(condition: &Expr, a: &Expr, b: &Expr, data: &HashSet<Slot>) -> bool {
    let is_kept = is_field(b) && !is_constant(b) && !is_data(b, data);
    asks(condition, data) && reads_only(a, data) && moves(a) && is_kept
}

fn is_data(of: &Expr, data: &HashSet<Slot>) -> bool {
    matches!(of.kind, ExprKind::Slot(slot) if data.contains(&slot))
}

/// True for a condition that is one parameter: a truth value or bit, or a number that is not 0. Builds
/// of the compiler differ on `bit == 1`: `SimplifyConditionalActionArg` knows `!= 0` alone, and whether
/// an earlier pass has rewritten the comparison depends on the build.
fn asks(condition: &Expr, data: &HashSet<Slot>) -> bool {
    match &condition.kind {
        ExprKind::Binary(Binary::Ne, of, zero) => is_data(of, data) && constant(zero) == Some(0),
        ExprKind::Binary(Binary::Eq, of, one) => {
            of.scalar.width() == 1 && is_data(of, data) && constant(one) == Some(1)
        }
        _ => is_data(condition, data),
    }
}

fn values(expr: &Expr, found: &mut Vec<Diagnostic>) {
    match &expr.kind {
        ExprKind::Mux(condition, a, b) => {
            if is_extreme(condition, a, b) {
                return;
            }
            let message = "an instruction chooses between two values";
            found.push(rules::ACTION_CONDITION.refuse(expr.span, message).into());
        }
        _ if is_comparison(expr) => {
            let message = "an instruction compares";
            found.push(rules::ACTION_CONDITION.refuse(expr.span, message).into());
        }
        _ => visit::operands(expr).into_iter().for_each(|part| values(part, found)),
    }
}

/// Checks an `if` in an action.
pub fn check_if(unit: &Unit, choice: &Choice<'_>, found: &mut Vec<Diagnostic>) {
    let refuse = |message: &str, found: &mut Vec<Diagnostic>| {
        found.push(rules::ACTION_CONDITION.refuse(choice.condition.span, message).into());
    };
    if [choice.then, choice.otherwise].into_iter().any(|branch| acts(unit, branch)) {
        return refuse("an `if` in an action does something else than assign", found);
    }
    let [then, otherwise] = [choice.then, choice.otherwise].map(sets);
    if then.is_empty() && otherwise.is_empty() {
        return;
    }
    if !reads_only(&choice.condition, &choice.data) {
        if !is_extreme_if(&choice.condition, &then, &otherwise) {
            refuse("a condition in an action asks for a field", found);
        }
        return;
    }
    let supplied = |(_, value): &(Slot, &Expr)| reads_only(value, &choice.data) && moves(value);
    if !asks(&choice.condition, &choice.data) || asks_again(choice.then) {
        refuse("a condition in an action is more than one parameter of it", found);
    } else if !otherwise.is_empty() {
        refuse("an action assigns where its data do not say so", found);
    } else if !then.iter().all(supplied) {
        refuse("an action assigns a field or a result where its data say so", found);
    }
}

/// True if a branch calls for no result, makes a header valid or invalid, or leaves the action or a
/// function around the branch.
fn acts(unit: &Unit, stmts: &[Stmt]) -> bool {
    let (mut left, mut inner): (Vec<Label>, Vec<Label>) = (Vec::new(), Vec::new());
    let mut calls = false;
    visit::statements(stmts, &mut |stmt| match &stmt.kind {
        StmtKind::Block { label, .. } | StmtKind::Loop { label, .. } => inner.push(*label),
        StmtKind::Leave(label) => left.push(*label),
        StmtKind::Call(call) => calls |= call.result.is_none(),
        StmtKind::Set(slot, _) => calls |= unit.validity_of(*slot).is_some(),
        _ => {}
    });
    calls || left.iter().any(|label| !inner.contains(label))
}

/// True if a branch decides again.
fn asks_again(stmts: &[Stmt]) -> bool {
    let mut asks = false;
    visit::statements(stmts, &mut |stmt| {
        asks |=
            matches!(&stmt.kind, StmtKind::If { condition, .. } if constant(condition).is_none());
    });
    asks
}

/// The assignments of a branch, those of inner branches included.
fn sets(stmts: &[Stmt]) -> Vec<(Slot, &Expr)> {
    let mut found = Vec::new();
    visit::statements(stmts, &mut |stmt| match &stmt.kind {
        StmtKind::Set(slot, value) | StmtKind::SetSlice { target: slot, value, .. } => {
            found.push((*slot, value));
        }
        _ => {}
    });
    found
}

/// True for one assignment that is a minimum or maximum.
fn is_extreme_if(condition: &Expr, then: &[(Slot, &Expr)], otherwise: &[(Slot, &Expr)]) -> bool {
    let field = |slot: Slot, value: &Expr| Expr { kind: ExprKind::Slot(slot), ..value.clone() };
    match (then, otherwise) {
        ([(slot, a)], []) => is_extreme(condition, a, &field(*slot, a)),
        ([], [(slot, b)]) => is_extreme(condition, &field(*slot, b), b),
        ([(slot, a)], [(other, b)]) => slot == other && is_extreme(condition, a, b),
        _ => false,
    }
}

/// True for `a < b ? a : b`, with any order and either way round.
fn is_extreme(condition: &Expr, a: &Expr, b: &Expr) -> bool {
    let ExprKind::Binary(Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge, x, y) = &condition.kind
    else {
        return false;
    };
    let is = |x: &Expr, y: &Expr| same_expression(x, a) && same_expression(y, b);
    is_plain(a) && is_plain(b) && (is(x, y) || is(y, x))
}

/// True for a comparison or a combination of truth values: no instruction has one for its result.
fn is_comparison(expr: &Expr) -> bool {
    is_condition(expr) && matches!(expr.kind, ExprKind::Binary(..) | ExprKind::Unary(..))
}

fn moves(value: &Expr) -> bool {
    is_plain(value) || is_constant(value)
}

fn reads_only(expr: &Expr, slots: &HashSet<Slot>) -> bool {
    match &expr.kind {
        ExprKind::Slot(slot) => slots.contains(slot),
        ExprKind::WideSlot(_) | ExprKind::Element { .. } | ExprKind::WideElement { .. } => false,
        _ => visit::operands(expr).into_iter().all(|part| reads_only(part, slots)),
    }
}

fn reads_temporary(unit: &Unit, expr: &Expr) -> bool {
    let is_temporary =
        |slot: &Slot| unit.slots.get(slot.index()).is_some_and(|info| info.temporary);
    match &expr.kind {
        ExprKind::Slot(slot) => is_temporary(slot),
        _ => visit::operands(expr).into_iter().any(|part| reads_temporary(unit, part)),
    }
}
