//! What the instructions of an action can do (T1004 to T1009).

use super::Known;
use crate::fit::bits::{is_constant, needs_two_instructions, steps};
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Slot, Stmt, StmtKind};
use sojourn_p4::visit;
use std::collections::HashMap;

/// The widest container.
const CONTAINER_BITS: u32 = 32;

/// Statements outside tables. Where one action ends and the next begins is not known here, so
/// only single expressions are looked at.
pub fn check_statements(stmts: &[Stmt], constants: &Known, found: &mut Vec<Diagnostic>) {
    visit::statements(stmts, &mut |stmt| {
        if matches!(stmt.kind, StmtKind::Loop { .. }) {
            let message = "a loop: the estimate counts one round";
            found.push(rules::LOOP.warning(stmt.span, message));
        }
        for expr in visit::expressions(stmt) {
            check_operations(expr, constants, found);
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
pub fn check_action(body: &[Stmt], constants: &Known, found: &mut Vec<Diagnostic>) {
    let mut known: HashMap<Slot, Expr> = HashMap::new();
    for stmt in body {
        for expr in visit::expressions(stmt) {
            check_operations(expr, constants, found);
        }
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

/// Operations that no instruction does.
pub fn check_operations(expr: &Expr, constants: &Known, found: &mut Vec<Diagnostic>) {
    check_width(expr, expr.scalar.width(), found);
    operations(expr, constants, found);
}

fn operations(expr: &Expr, constants: &Known, found: &mut Vec<Diagnostic>) {
    if let ExprKind::Binary(op, a, b) = &expr.kind {
        let power = |operand: &Expr| {
            is_power_of_two(operand) || !is_constant(operand) && constants.may_be_constant(operand)
        };
        match op {
            Binary::Mul if !power(a) && !power(b) => {
                let message = "a multiplication";
                found.push(rules::MULTIPLICATION.refuse(expr.span, message).into());
            }
            Binary::Div | Binary::Mod if !power(b) => {
                let message = "a division";
                found.push(rules::MULTIPLICATION.refuse(expr.span, message).into());
            }
            Binary::Shl | Binary::Shr if !constants.may_be_constant(b) => {
                let message = "a shift by a field";
                found.push(rules::VARIABLE_SHIFT.refuse(expr.span, message).into());
            }
            _ => {}
        }
    }
    visit::operands(expr).into_iter().for_each(|operand| operations(operand, constants, found));
}

/// Arithmetic of which more bits are wanted than a container has.
fn check_width(expr: &Expr, wanted: u32, found: &mut Vec<Diagnostic>) {
    match &expr.kind {
        ExprKind::Cast(inner) => check_width(inner, wanted.min(inner.scalar.width()), found),
        ExprKind::Slice(inner, low) => check_width(inner, wanted + low, found),
        ExprKind::Binary(op, a, b) => {
            let width = expr.scalar.width();
            match op {
                Binary::SatAdd | Binary::SatSub if width > CONTAINER_BITS => {
                    let message = format!("saturating arithmetic of {width} bits");
                    found.push(rules::SATURATING_WIDTH.refuse(expr.span, message).into());
                }
                Binary::Add | Binary::Sub if wanted > CONTAINER_BITS => {
                    let message = format!("arithmetic of {wanted} bits");
                    found.push(rules::WIDE_ARITHMETIC.warning(expr.span, message));
                }
                _ => {
                    check_width(a, a.scalar.width(), found);
                    check_width(b, b.scalar.width(), found);
                }
            }
        }
        _ => {
            for operand in visit::operands(expr) {
                check_width(operand, operand.scalar.width(), found);
            }
        }
    }
}

fn is_power_of_two(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(value) if value.is_power_of_two() || value == 0)
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
