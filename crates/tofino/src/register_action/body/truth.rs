//! Evaluation of the conditions of a register action, for one joint outcome of its comparisons.

use super::{Binding, Body, Result};
use crate::register_action::condition::{Comparison, fit};
use crate::register_action::term::{Operation, Term, TermKind};
use crate::rules;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Scalar, Unary};
use sojourn_p4::source::Span;

impl Body<'_, '_> {
    /// Decides a condition in the outcome that is walked.
    pub(super) fn truth(&mut self, condition: &Expr) -> Result<bool> {
        match &condition.kind {
            ExprKind::Const(value) => return Ok(*value != 0),
            ExprKind::Unary(Unary::Not, inner) => return Ok(!self.truth(inner)?),
            ExprKind::Binary(Binary::And, a, b) => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                return Ok(a && b);
            }
            ExprKind::Binary(Binary::Or, a, b) => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                return Ok(a || b);
            }
            ExprKind::Slot(slot) => {
                if let Some(Binding::Truth(truth)) = self.locals.get(slot) {
                    return Ok(*truth);
                }
            }
            ExprKind::Mux(choice, then, otherwise) => {
                let arm = if self.truth(choice)? { then } else { otherwise };
                return self.truth(arm);
            }
            ExprKind::Binary(operator, left, right) if is_comparison(*operator) => {
                return self.comparison(*operator, left, right, condition.span);
            }
            _ => {}
        }
        // A bare bit: is it set?
        let inner = match &condition.kind {
            ExprKind::Cast(inner) => inner,
            _ => condition,
        };
        let zero = Term { kind: TermKind::Constant(0), width: 1, span: condition.span };
        let bit = match &inner.kind {
            ExprKind::Slot(slot) => self.slot(*slot, inner.span)?,
            _ => self.term(inner)?,
        };
        self.ask(&Comparison {
            operator: Binary::Ne,
            left: &bit,
            right: &zero,
            operands: Scalar::Bit(1),
            explicit_sum: false,
            span: condition.span,
        })
    }

    fn comparison(
        &mut self,
        operator: Binary,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Result<bool> {
        if left.scalar == Scalar::Bool
            && let (ExprKind::Const(value), other) | (other, ExprKind::Const(value)) =
                (&left.kind, &right.kind)
        {
            let side = if std::ptr::eq(other, &left.kind) { left } else { right };
            let truth = self.truth(side)?;
            return Ok((truth == (*value != 0)) == (operator == Binary::Eq));
        }
        let (left_term, right_term) = (self.term(left)?, self.term(right)?);
        let explicit_sum = is_sum(left, &left_term) || is_sum(right, &right_term);
        if let (TermKind::Constant(a), TermKind::Constant(b)) = (&left_term.kind, &right_term.kind)
        {
            return Ok(decide(operator, a.cmp(b)));
        }
        self.ask(&Comparison {
            operator,
            left: &left_term,
            right: &right_term,
            operands: left.scalar,
            explicit_sum,
            span,
        })
    }

    fn ask(&mut self, comparison: &Comparison<'_>) -> Result<bool> {
        if self.shape.width.bits() == 1 {
            let message = "a condition in an action of a one-bit register";
            return Err(rules::ONE_BIT.refuse(comparison.span, message));
        }
        let unit = fit(comparison, self.shared)?;
        let (index, opposite) = self.units.answer(unit, comparison.span, self.shared)?;
        Ok((self.outcome >> index & 1 == 1) != opposite)
    }
}

/// True if an operand is written as a sum or difference, or is a variable with such a value. A cast
/// between signed and unsigned does not matter: the compiler moves it to the operands of the sum
/// (p4c's `SimplifyOperationBinary`), so that `(int<32>)(a - b)` is `(int<32>)a - (int<32>)b`.
fn is_sum(expr: &Expr, term: &Term) -> bool {
    match &expr.kind {
        ExprKind::Binary(Binary::Add | Binary::Sub, ..) => true,
        ExprKind::Slot(_) => {
            matches!(term.kind, TermKind::Operation(Operation::Add | Operation::Sub, ..))
        }
        ExprKind::Cast(inner) if inner.scalar.width() == expr.scalar.width() => is_sum(inner, term),
        _ => false,
    }
}

fn is_comparison(operator: Binary) -> bool {
    use Binary as B;
    matches!(operator, B::Eq | B::Ne | B::Lt | B::Le | B::Gt | B::Ge)
}

fn decide(operator: Binary, order: std::cmp::Ordering) -> bool {
    match operator {
        Binary::Eq => order.is_eq(),
        Binary::Ne => order.is_ne(),
        Binary::Lt => order.is_lt(),
        Binary::Le => order.is_le(),
        Binary::Gt => order.is_gt(),
        _ => order.is_ge(),
    }
}
