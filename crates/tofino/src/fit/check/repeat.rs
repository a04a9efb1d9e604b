//! Loops (T1007).

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Program, Stmt, StmtKind, UnitId};
use sojourn_p4::visit;

/// Refuses the loops of a statement list.
pub fn check(stmts: &[Stmt], found: &mut Vec<Diagnostic>) {
    visit::statements(stmts, &mut |stmt| {
        if matches!(stmt.kind, StmtKind::Loop { .. }) {
            found.push(rules::LOOP.refuse(stmt.span, "a loop").into());
        }
    });
}

/// Refuses the loops of a control whose rounds the IR has written out.
pub fn check_unrolled(program: &Program, control: UnitId, found: &mut Vec<Diagnostic>) {
    let unrolled = program.declared.unrolled.iter().filter(|(unit, _)| *unit == control);
    found.extend(unrolled.map(|(_, span)| rules::LOOP.refuse(*span, "a loop").into()));
}
