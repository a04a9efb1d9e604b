//! Elements of stacks that a field chooses, in controls and deparsers (T1305).
//!
//! Parsers have their own check, as they count elements. The compiler unrolls loops, so that an
//! index inside of one may become a constant: loops are not checked. Uses `copy_propagation`.

use super::copy_propagation::Known;
use super::fields::variable_index;
use crate::constant_folding::constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Body, Expr, Program, Stmt, StmtKind, UnitId};
use sojourn_p4::visit;

/// Checks a control or deparser and its tables.
pub fn check(program: &Program, unit: UnitId, found: &mut Vec<Diagnostic>) {
    let Body::Control { stmts, .. } = &program.units[unit.index()].body else { return };
    list(stmts, &mut Known::default(), found);
    for table in program.tables.iter().filter(|table| table.unit == unit) {
        for action in &table.actions {
            list(&action.body, &mut Known::default(), found);
        }
        for key in &table.keys {
            expression(&key.expr, found);
        }
    }
}

fn list(stmts: &[Stmt], known: &mut Known, found: &mut Vec<Diagnostic>) {
    for stmt in stmts {
        if !matches!(stmt.kind, StmtKind::Loop { .. }) {
            for expr in visit::expressions(stmt) {
                expression(&known.resolved(expr), found);
            }
            if let StmtKind::SetElement { index, .. } | StmtKind::SetWideElement { index, .. } =
                &stmt.kind
                && constant(&known.resolved(index)).is_none()
            {
                refuse(index, found);
            }
            for inner in visit::inner_lists(stmt) {
                list(inner, &mut known.clone(), found);
            }
        }
        visit::inner_lists(stmt).into_iter().for_each(|inner| known.forget_written(inner));
        known.step(stmt);
    }
}

fn expression(expr: &Expr, found: &mut Vec<Diagnostic>) {
    if let Some(index) = variable_index(expr).filter(|index| constant(index).is_none()) {
        refuse(index, found);
    }
}

fn refuse(index: &Expr, found: &mut Vec<Diagnostic>) {
    let message = "a field chooses an element of a stack";
    let refused = rules::STACK_INDEX.refuse(index.span, message).into();
    if !found.contains(&refused) {
        found.push(refused);
    }
}
