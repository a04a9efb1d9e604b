//! Loops (T1007).

use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Stmt, StmtKind};
use sojourn_p4::visit;

/// Refuses the loops of a statement list.
pub fn check(stmts: &[Stmt], found: &mut Vec<Diagnostic>) {
    visit::statements(stmts, &mut |stmt| {
        if matches!(stmt.kind, StmtKind::Loop { .. }) {
            found.push(rules::LOOP.refuse(stmt.span, "a loop").into());
        }
    });
}
