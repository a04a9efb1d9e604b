//! Control-flow check: whether a body returns on every path (specification 10 and 12).

use super::Checker;
use super::messages::code;
use crate::ast::Block;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::Type;

/// True if execution can continue behind these statements.
pub(super) fn falls_through(statements: &[Stmt]) -> bool {
    statements.iter().all(|statement| passes(&statement.kind))
}

fn is_true(condition: &Expr) -> bool {
    matches!(condition.kind, ExprKind::Const(Value::Bool(true)))
}

fn passes(statement: &StmtKind) -> bool {
    match statement {
        StmtKind::Return(_) | StmtKind::Exit => false,
        StmtKind::Block(body) => falls_through(body),
        StmtKind::If(_, yes, no) => falls_through(yes) || falls_through(no),
        StmtKind::SwitchAction { cases, default, .. } => {
            cases.iter().any(|(_, body)| falls_through(body)) || falls_through(default)
        }
        StmtKind::SwitchValue { cases, default, .. } => {
            cases.iter().any(|(_, body)| falls_through(body)) || falls_through(default)
        }
        StmtKind::For { condition, body, .. } => !is_true(condition) || has_break(body),
        _ => true,
    }
}

fn has_break(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Break => true,
        StmtKind::Block(body) => has_break(body),
        StmtKind::If(_, yes, no) => has_break(yes) || has_break(no),
        StmtKind::SwitchAction { cases, default, .. } => {
            cases.iter().any(|(_, body)| has_break(body)) || has_break(default)
        }
        StmtKind::SwitchValue { cases, default, .. } => {
            cases.iter().any(|(_, body)| has_break(body)) || has_break(default)
        }
        _ => false,
    })
}

impl Checker<'_> {
    /// Checks a body in its own scope, which must return on every path if there is a result.
    pub(super) fn body(&mut self, block: &Block, returns: &Type, name: Span) -> Vec<Stmt> {
        let statements = self.block_statements(block);
        if !matches!(returns, Type::Void | Type::Unknown) && falls_through(&statements) {
            let shown = self.show(returns);
            let message = format!("a path through this function does not return a `{shown}`");
            let end = Span::new(block.span.end.saturating_sub(1), block.span.end);
            let diagnostic = Diagnostic::error(code::RETURN, name, message)
                .with_place(end, "the end can be reached without `return`");
            self.report(diagnostic);
        }
        statements
    }
}
