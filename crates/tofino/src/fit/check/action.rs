//! Steps that the instructions of one action cannot do at once (T1004), and loops (T1007).

use crate::fit::bits::{is_constant, needs_two_instructions, steps};
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Slot, Stmt, StmtKind};
use sojourn_p4::visit;
use std::collections::HashMap;

/// Statements outside tables. Where one action ends and the next begins is not known here, so
/// only single expressions are looked at.
pub fn check_statements(stmts: &[Stmt], found: &mut Vec<Diagnostic>) {
    visit::statements(stmts, &mut |stmt| {
        if matches!(stmt.kind, StmtKind::Loop { .. }) {
            found.push(rules::LOOP.refuse(stmt.span, "a loop").into());
        }
        if let StmtKind::Set(_, value) = &stmt.kind
            && steps(value) > 1
            && !needs_two_instructions(value)
        {
            let message = format!("{} steps that need each other in one assignment", steps(value));
            found.push(rules::DEPENDENT_STEPS.warning(value.span, message));
        }
    });
}

/// The body of a table's action.
pub fn check_action(body: &[Stmt], found: &mut Vec<Diagnostic>) {
    let mut known: HashMap<Slot, Expr> = HashMap::new();
    for stmt in body {
        let StmtKind::Set(slot, value) = &stmt.kind else {
            visit::written(stmt, &mut |slot| {
                known.remove(&slot);
            });
            continue;
        };
        // What the field holds, in terms of the fields before the action.
        let mut value = value.clone();
        substitute(&mut value, &known);
        if steps(&value) > 1 {
            let message = format!("{} steps that need each other in one action", steps(&value));
            found.push(if is_long_sum(&value) || needs_two_instructions(&value) {
                rules::DEPENDENT_STEPS.refuse(stmt.span, message).into()
            } else {
                rules::DEPENDENT_STEPS.warning(stmt.span, message)
            });
        }
        known.insert(*slot, value);
    }
}

/// True for sums and differences of three or more fields: what certainly takes two instructions.
fn is_long_sum(expr: &Expr) -> bool {
    fn terms(expr: &Expr) -> Option<u32> {
        match &expr.kind {
            ExprKind::Cast(a) => terms(a),
            ExprKind::Binary(Binary::Add | Binary::Sub | Binary::SatAdd | Binary::SatSub, a, b) => {
                Some(terms(a)? + terms(b)?)
            }
            ExprKind::Slot(_) => Some(1),
            ExprKind::Slice(inner, _) => matches!(inner.kind, ExprKind::Slot(_)).then_some(1),
            _ if is_constant(expr) => Some(0),
            _ => None,
        }
    }
    terms(expr).is_some_and(|terms| terms >= 3)
}

fn substitute(expr: &mut Expr, known: &HashMap<Slot, Expr>) {
    visit::change_expression(expr, &mut |expr| {
        let ExprKind::Slot(slot) = expr.kind else { return true };
        if let Some(value) = known.get(&slot) {
            *expr = value.clone();
        }
        false
    });
}
