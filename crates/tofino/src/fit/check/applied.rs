//! Conditions that apply a table and ask for more (T1003), after `bf-p4c/mau` and
//! `bf-p4c/midend/simplify_nested_if.cpp`: the compiler takes `if (table.apply().hit)` alone.
//!
//! The IR stores the parts of such a condition in temporary variables.

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, Program, Slot, StmtKind, Unary, UnitId};
use sojourn_p4::visit;
use std::collections::HashSet;

/// Refuses an outcome of a table among the parts of a condition.
pub fn check(program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let slots = &program.units[control.index()].slots;
    let is_part = |slot: &Slot| slots.get(slot.index()).is_some_and(|info| info.temporary);
    let mut outcomes: HashSet<Slot> = HashSet::new();
    visit::unit_statements(program, control, &mut |stmt| {
        let part = match &stmt.kind {
            StmtKind::Apply { hit, .. } => return outcomes.extend(*hit),
            StmtKind::Set(slot, value) if is_part(slot) => value,
            StmtKind::If { condition, .. } if !is_alone(condition) => condition,
            _ => return,
        };
        if outcomes.iter().any(|outcome| visit::reads(part, *outcome)) {
            let message = "a condition applies a table and asks for more";
            found.push(rules::CONDITION_ARITHMETIC.refuse(part.span, message).into());
        }
    });
}

/// True for a variable or its negation.
fn is_alone(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Unary(Unary::Not, inner) => is_alone(inner),
        _ => matches!(condition.kind, ExprKind::Slot(_)),
    }
}
