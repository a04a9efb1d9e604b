//! Values that variables are known to hold, as the compiler's copy propagation and constant folding
//! find them.
//!
//! Stands on the IR's expressions; it must not depend on where they are evaluated.

use crate::constant_folding::fold;
use sojourn_p4::ir::{Expr, ExprKind, Slot, Stmt, StmtKind};
use sojourn_p4::visit;
use std::collections::HashMap;

/// Largest number of nodes of a propagated expression: longer ones are left as they are.
const MAX_NODES: usize = 256;

/// The values of variables at a point of a statement list.
#[derive(Clone, Debug, Default)]
pub struct Known(HashMap<Slot, Expr>);

impl Known {
    /// An expression with the known values in it, folded.
    pub fn resolved(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        visit::change_expression(&mut expr, &mut |expr| {
            let ExprKind::Slot(slot) = expr.kind else { return true };
            if let Some(value) = self.0.get(&slot) {
                *expr = value.clone();
            }
            false
        });
        fold(&mut expr);
        expr
    }

    /// Takes over what a statement writes; statements inside it are not looked at.
    pub fn step(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Set(slot, value) => {
                let value = self.resolved(value);
                self.forget(*slot);
                if !visit::reads(&value, *slot) && nodes(&value) <= MAX_NODES {
                    self.0.insert(*slot, value);
                }
            }
            StmtKind::Copy { narrow: (from, to, count), .. } => {
                let values: Vec<_> =
                    (0..*count).map(|at| self.0.get(&Slot(from.0 + at)).cloned()).collect();
                for (at, value) in (0..).zip(values) {
                    let to = Slot(to.0 + at);
                    self.forget(to);
                    if let Some(value) = value.filter(|value| !visit::reads(value, to)) {
                        self.0.insert(to, value);
                    }
                }
            }
            _ => visit::written(stmt, &mut |slot| self.forget(slot)),
        }
    }

    /// Drops all values that a list of statements may change.
    pub fn forget_written(&mut self, stmts: &[Stmt]) {
        visit::statements(stmts, &mut |stmt| visit::written(stmt, &mut |slot| self.forget(slot)));
    }

    fn forget(&mut self, slot: Slot) {
        self.0.remove(&slot);
        self.0.retain(|_, value| !visit::reads(value, slot));
    }
}

fn nodes(expr: &Expr) -> usize {
    1 + visit::operands(expr).into_iter().map(nodes).sum::<usize>()
}
