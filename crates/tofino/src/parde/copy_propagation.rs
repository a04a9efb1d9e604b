//! Known values of variables, as the compiler's copy propagation and constant folding find them.
//!
//! Uses the IR's expressions; must not depend on where they are evaluated.

use super::fields::computed;
use crate::constant_folding::fold;
use sojourn_p4::ir::{Expr, ExprKind, Slot, Stmt, StmtKind};
use sojourn_p4::visit;
use std::collections::{HashMap, HashSet};

/// Largest number of nodes of a propagated expression: longer ones are left as they are.
const MAX_NODES: usize = 256;

/// The values of variables at a point of a statement list.
#[derive(Clone, Debug, Default)]
pub struct Known {
    values: HashMap<Slot, Expr>,
    /// Variables with a computed value that is not remembered.
    computed: HashSet<Slot>,
}

impl Known {
    /// An expression with the known values in it, folded.
    pub fn resolved(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        visit::change_expression(&mut expr, &mut |expr| {
            let ExprKind::Slot(slot) = expr.kind else { return true };
            if let Some(value) = self.values.get(&slot) {
                *expr = value.clone();
            }
            false
        });
        fold(&mut expr);
        expr
    }

    /// True if an expression reads a variable with a computed value.
    pub fn reads_computed(&self, expr: &Expr) -> bool {
        self.computed.iter().any(|slot| visit::reads(expr, *slot))
    }

    /// Takes over what a statement writes; statements inside it are not looked at.
    pub fn step(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Set(slot, value) => {
                let value = self.resolved(value);
                self.forget(*slot);
                if !visit::reads(&value, *slot) && nodes(&value) <= MAX_NODES {
                    self.values.insert(*slot, value);
                } else if computed(&value).is_some() || self.reads_computed(&value) {
                    self.computed.insert(*slot);
                }
            }
            StmtKind::Copy { narrow: (from, to, count), .. } => {
                let values: Vec<_> =
                    (0..*count).map(|at| self.values.get(&Slot(from.0 + at)).cloned()).collect();
                for (at, value) in (0..).zip(values) {
                    let to = Slot(to.0 + at);
                    self.forget(to);
                    if let Some(value) = value.filter(|value| !visit::reads(value, to)) {
                        self.values.insert(to, value);
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
        self.values.remove(&slot);
        self.computed.remove(&slot);
        self.values.retain(|_, value| !visit::reads(value, slot));
    }
}

fn nodes(expr: &Expr) -> usize {
    1 + visit::operands(expr).into_iter().map(nodes).sum::<usize>()
}
