//! Values that variables are known to hold, as the compiler's copy propagation and constant folding
//! find them.
//!
//! Stands on the IR's expressions; it must not depend on where they are evaluated.

use sojourn_p4::interp::arith;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Slot, Stmt, StmtKind};
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
        folded(expr)
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

/// The constant that an expression is.
pub fn constant(expr: &Expr) -> Option<u128> {
    match expr.kind {
        ExprKind::Const(value) => Some(value),
        _ => None,
    }
}

/// An expression with its constant parts computed and operations without effect left out.
fn folded(mut expr: Expr) -> Expr {
    let scalar = expr.scalar;
    expr.kind = match expr.kind {
        ExprKind::Unary(op, a) => {
            let a = folded(*a);
            match constant(&a) {
                Some(value) => ExprKind::Const(arith::unary(op, scalar, value)),
                None => ExprKind::Unary(op, Box::new(a)),
            }
        }
        ExprKind::Binary(op, a, b) => return binary(expr.span, scalar, op, folded(*a), folded(*b)),
        ExprKind::Mux(condition, a, b) => {
            let (condition, a, b) = (folded(*condition), folded(*a), folded(*b));
            match constant(&condition) {
                Some(0) => return b,
                Some(_) => return a,
                None => ExprKind::Mux(Box::new(condition), Box::new(a), Box::new(b)),
            }
        }
        ExprKind::Slice(a, low) => {
            let a = folded(*a);
            match constant(&a) {
                Some(value) if low < 128 => {
                    ExprKind::Const((value >> low) & arith::mask(scalar.width()))
                }
                _ => ExprKind::Slice(Box::new(a), low),
            }
        }
        ExprKind::Cast(a) => {
            let a = folded(*a);
            match constant(&a) {
                Some(value) if scalar.is_narrow() => {
                    ExprKind::Const(arith::cast(a.scalar, scalar.width(), value))
                }
                _ => ExprKind::Cast(Box::new(a)),
            }
        }
        other => other,
    };
    expr
}

fn binary(
    span: sojourn_p4::source::Span,
    scalar: sojourn_p4::ir::Scalar,
    op: Binary,
    a: Expr,
    b: Expr,
) -> Expr {
    let known = (constant(&a), constant(&b));
    let narrow = scalar.is_narrow() && a.scalar.is_narrow() && b.scalar.is_narrow();
    if let (Some(x), Some(y)) = known
        && narrow
    {
        let value = arith::binary(op, a.scalar, b.scalar.width(), x, y);
        return Expr { kind: ExprKind::Const(value), scalar, span };
    }
    let all = arith::mask(a.scalar.width());
    let zero = || Expr { kind: ExprKind::Const(0), scalar, span };
    match (op, known) {
        (Binary::BitAnd | Binary::Mul | Binary::And, (Some(0), _) | (_, Some(0))) if narrow => {
            zero()
        }
        (
            Binary::Add | Binary::BitOr | Binary::BitXor | Binary::SatAdd | Binary::Or,
            (Some(0), _),
        ) => b,
        (
            Binary::Add
            | Binary::Sub
            | Binary::BitOr
            | Binary::BitXor
            | Binary::SatAdd
            | Binary::SatSub
            | Binary::Shl
            | Binary::Shr
            | Binary::Or,
            (_, Some(0)),
        ) => a,
        (Binary::Mul | Binary::And, (Some(1), _)) => b,
        (Binary::Mul | Binary::Div | Binary::And, (_, Some(1))) => a,
        (Binary::BitAnd, (Some(x), _)) if narrow && x == all => b,
        (Binary::BitAnd, (_, Some(y))) if narrow && y == all => a,
        _ => Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), scalar, span },
    }
}
