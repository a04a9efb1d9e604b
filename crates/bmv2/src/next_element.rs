//! Fields of `stack.next` in a parser (V0225), after `backends/bmv2/common/expression.cpp`.
//!
//! Uses the IR, where an access to `next` is a check of the stack, a copy of its index and an
//! element at that index; must not depend on how a parser runs.

use super::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Body, Expr, ExprKind, Slot, Stmt, StmtKind, Transition, Unit};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::HashSet;

/// A diagnostic for each statement or `select` of a parser that uses a field of `next`.
pub(super) fn check(unit: &Unit, found: &mut Vec<Diagnostic>) {
    let Body::Parser(parser) = &unit.body else { return };
    let mut spans: Vec<Span> = Vec::new();
    for state in &parser.states {
        let next = indices(&state.body);
        // An extraction into a member of a union, and a header that is copied as a whole.
        let whole = whole(unit, &state.body, &next);
        visit::statements(&state.body, &mut |stmt| {
            let reads = visit::expressions(stmt).into_iter().find_map(|expr| read(expr, &next));
            let writes = writes(stmt, &next).map(|_| stmt.span);
            spans.extend(reads.or(writes).filter(|_| !whole.contains(&stmt.span)));
        });
        if let Transition::Select { keys, .. } = &state.transition {
            spans.extend(keys.iter().filter_map(|key| read(key, &next)));
        }
    }
    spans.dedup();
    for span in spans {
        let message = "a field of `next` of a stack";
        found.push(rules::NEXT_ELEMENT.refuse(span, message).into());
    }
}

/// The variables that hold the index of `next`.
fn indices(stmts: &[Stmt]) -> HashSet<Slot> {
    let mut checked = None;
    let mut found = HashSet::new();
    visit::statements(stmts, &mut |stmt| match &stmt.kind {
        StmtKind::CheckStack { next, last, .. } => checked = (!last).then_some(*next),
        StmtKind::Set(to, Expr { kind: ExprKind::Slot(from), .. }) if checked == Some(*from) => {
            found.insert(*to);
        }
        _ => checked = None,
    });
    found
}

/// The statements that write whole elements: extractions, copies of headers and their validity.
fn whole(unit: &Unit, stmts: &[Stmt], next: &HashSet<Slot>) -> HashSet<Span> {
    let mut found = HashSet::new();
    visit::statements(stmts, &mut |stmt| {
        let is_whole = match &stmt.kind {
            StmtKind::Extract { .. } | StmtKind::ExtractVar { .. } => true,
            StmtKind::Set(_, Expr { kind: ExprKind::Element { base, index, .. }, .. }) => {
                unit.validity_of(*base).is_some() && is_next(index, next)
            }
            StmtKind::SetElement { base, value, .. } if writes(stmt, next).is_some() => {
                let copies = matches!(value.kind, ExprKind::Slot(_) | ExprKind::Element { .. });
                unit.validity_of(*base).is_some() && (copies || clears(unit, stmts, stmt))
            }
            _ => false,
        };
        if is_whole {
            found.insert(stmt.span);
        }
    });
    found
}

/// True for `setValid` and `setInvalid`: no value but 0 goes into the header besides its validity.
fn clears(unit: &Unit, stmts: &[Stmt], of: &Stmt) -> bool {
    let mut clears = true;
    let mut last = None;
    visit::statements(stmts, &mut |stmt| {
        if stmt.span != of.span {
            return;
        }
        if let StmtKind::SetElement { base, value, .. } = &stmt.kind {
            let is_validity = unit.validity_of(*base).is_some();
            clears &= is_validity || matches!(value.kind, ExprKind::Const(0));
            last = Some(is_validity);
        }
    });
    clears && last == Some(true)
}

fn writes(stmt: &Stmt, next: &HashSet<Slot>) -> Option<Span> {
    match &stmt.kind {
        StmtKind::SetElement { index, .. } | StmtKind::SetWideElement { index, .. } => {
            is_next(index, next).then_some(stmt.span)
        }
        _ => None,
    }
}

fn read(expr: &Expr, next: &HashSet<Slot>) -> Option<Span> {
    match &expr.kind {
        ExprKind::Element { index, .. } | ExprKind::WideElement { index, .. }
            if is_next(index, next) =>
        {
            Some(expr.span)
        }
        _ => visit::operands(expr).into_iter().find_map(|operand| read(operand, next)),
    }
}

fn is_next(index: &Expr, next: &HashSet<Slot>) -> bool {
    matches!(index.kind, ExprKind::Slot(slot) if next.contains(&slot))
}
