//! Expressions inside a register action as terms.

use super::{Binding, Body, Result, Role};
use crate::register_action::term::{Half, Operation, Term, TermKind};
use crate::rules;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Scalar, Slot, Unary};
use sojourn_p4::source::Span;

impl Body<'_, '_> {
    /// The right side of an assignment to the output: after an assignment to a half its name
    /// means the new value.
    pub(super) fn output_term(&mut self, value: &Expr) -> Result<Term> {
        let reads = self.reads.len();
        let term = self.term(value)?;
        let mut named = value;
        while let ExprKind::Cast(inner) | ExprKind::Slice(inner, _) = &named.kind {
            named = inner;
        }
        // A copy in a local variable stays what it was.
        let named_values =
            matches!(&named.kind, ExprKind::Slot(slot) if self.memory.contains(slot));
        Ok(if named_values { self.updated(term, reads) } else { term })
    }

    fn updated(&mut self, term: Term, reads: usize) -> Term {
        match term.kind {
            TermKind::Memory(half)
                if self.first_write[half as usize].is_some_and(|first| first < self.statement) =>
            {
                self.reads.truncate(reads);
                Term { kind: TermKind::Updated(half), ..term }
            }
            TermKind::Low(inner) => {
                let inner = self.updated(*inner, reads);
                Term { kind: TermKind::Low(Box::new(inner)), ..term }
            }
            TermKind::Part(inner, low) => {
                let inner = self.updated(*inner, reads);
                Term { kind: TermKind::Part(Box::new(inner), low), ..term }
            }
            _ => term,
        }
    }

    /// The value of a slot.
    pub(super) fn slot(&mut self, slot: Slot, span: Span) -> Result<Term> {
        let scalar = self.unit.slots[slot.index()].scalar;
        let width = scalar.width();
        match self.role(slot) {
            Role::Memory(half) => {
                self.reads.push((half, self.statement, 1 << self.outcome, span));
                Ok(Term { kind: TermKind::Memory(half), width, span })
            }
            Role::Output(_) => {
                Err(rules::OUTPUT_READ.refuse(span, "the output of a register action is read"))
            }
            Role::Local => match self.locals.get(&slot) {
                Some(Binding::Term(term)) => {
                    if let TermKind::Memory(half) = term.kind {
                        self.reads.push((half, self.statement, 1 << self.outcome, span));
                    }
                    Ok(Term { span, ..term.clone() })
                }
                Some(Binding::Truth(truth)) => {
                    Ok(Term { kind: TermKind::Constant(i128::from(*truth)), width, span })
                }
                None => Ok(Term { kind: TermKind::Constant(0), width, span }),
            },
            Role::Field => {
                let kind = ExprKind::Slot(slot);
                let field = Box::new(Expr { kind, scalar, span });
                Ok(Term { kind: TermKind::Field(field), width, span })
            }
        }
    }

    /// An arithmetic expression as a term.
    pub(super) fn term(&mut self, expr: &Expr) -> Result<Term> {
        let (span, width) = (expr.span, expr.scalar.width());
        let make = |kind| Ok(Term { kind, width, span });
        match &expr.kind {
            ExprKind::Const(pattern) => make(TermKind::Constant(signed(*pattern, expr.scalar))),
            ExprKind::Slot(slot) => {
                let slot = self.slot(*slot, span)?;
                Ok(Term { span, ..slot })
            }
            ExprKind::Unary(Unary::Complement, inner) => {
                make(TermKind::Complement(Box::new(self.term(inner)?)))
            }
            ExprKind::Unary(Unary::Negate, inner) => {
                make(TermKind::Negate(Box::new(self.term(inner)?)))
            }
            ExprKind::Binary(Binary::Concat, high, low)
                if matches!(high.kind, ExprKind::Const(0)) =>
            {
                self.term(low)
            }
            ExprKind::Binary(operator, left, right)
                if Operation::from_operator(*operator, expr.scalar.is_signed()).is_some() =>
            {
                let Some(operation) = Operation::from_operator(*operator, expr.scalar.is_signed())
                else {
                    unreachable!("the guard asked")
                };
                let (left, right) = (self.term(left)?, self.term(right)?);
                make(TermKind::Operation(operation, Box::new(left), Box::new(right)))
            }
            ExprKind::Binary(operator @ (Binary::Div | Binary::Mod), left, right)
                if self.shared.chip.division =>
            {
                let (left, right) = (Box::new(self.term(left)?), Box::new(self.term(right)?));
                make(match operator {
                    Binary::Div => TermKind::Quotient(left, right),
                    _ => TermKind::Remainder(left, right),
                })
            }
            ExprKind::Mux(condition, then, otherwise) => {
                let arm = if self.truth(condition)? { then } else { otherwise };
                self.term(arm)
            }
            ExprKind::Cast(inner) => self.cast(expr, inner),
            ExprKind::Slice(inner, low) => self.slice(expr, inner, *low),
            _ if self.is_gathered(expr) => make(TermKind::Field(Box::new(expr.clone()))),
            _ if expr.scalar == Scalar::Bool => {
                let truth = self.truth(expr)?;
                make(TermKind::Constant(i128::from(truth)))
            }
            _ => {
                Err(rules::UPDATE_OPERATION
                    .refuse(span, "a stateful ALU does not have this operation"))
            }
        }
    }

    fn cast(&mut self, whole: &Expr, inner: &Expr) -> Result<Term> {
        let (from, to) = (inner.scalar.width(), whole.scalar.width());
        let widened_field = to > from && inner.scalar.is_signed() && self.is_gathered(inner);
        if widened_field {
            let kind = TermKind::Field(Box::new(whole.clone()));
            return Ok(Term { kind, width: to, span: whole.span });
        }
        if to < from {
            return self.slice(whole, inner, 0);
        }
        let term = self.term(inner)?;
        // A zero-extended field is the field: the input crossbar fills up with zeros.
        let constant = matches!(term.kind, TermKind::Constant(_));
        if to > from && inner.scalar.is_signed() && !constant {
            let message = "a stateful ALU cannot extend the sign of this";
            return Err(rules::UPDATE_OPERATION.refuse(whole.span, message));
        }
        if let TermKind::Constant(value) = term.kind {
            let pattern = value as u128 & (u128::MAX >> (128 - to.min(128)));
            let kind = TermKind::Constant(signed(pattern, whole.scalar));
            return Ok(Term { kind, width: to, span: whole.span });
        }
        Ok(Term { span: whole.span, ..term })
    }

    fn slice(&mut self, whole: &Expr, inner: &Expr, low: u32) -> Result<Term> {
        let (span, width) = (whole.span, whole.scalar.width());
        if self.is_gathered(inner) {
            return Ok(Term { kind: TermKind::Field(Box::new(whole.clone())), width, span });
        }
        let mut term = self.term(inner)?;
        let mut low = low;
        if self.shape.joined && low >= super::HALF {
            // One number has its upper bits in the second half.
            term.kind = match term.kind {
                TermKind::Memory(Half::Lo) => {
                    low -= super::HALF;
                    TermKind::Memory(Half::Hi)
                }
                kind => kind,
            };
        }
        match term.kind {
            TermKind::Constant(value) => {
                let pattern = (value >> low) as u128 & (u128::MAX >> (128 - width.clamp(1, 128)));
                let kind = TermKind::Constant(signed(pattern, whole.scalar));
                Ok(Term { kind, width, span })
            }
            TermKind::Field(field) if low == 0 && width >= field.scalar.width() => {
                Ok(Term { kind: TermKind::Field(field), width, span })
            }
            TermKind::Memory(_) | TermKind::Updated(_) if low == 0 => {
                Ok(Term { kind: TermKind::Low(Box::new(term)), width, span })
            }
            TermKind::Memory(_) | TermKind::Updated(_) => {
                Ok(Term { kind: TermKind::Part(Box::new(term), low), width, span })
            }
            TermKind::Quotient(..) | TermKind::Remainder(..) if low == 0 => {
                Ok(Term { kind: TermKind::Low(Box::new(term)), width, span })
            }
            TermKind::Address if low == 0 => Ok(Term { width, span, ..term }),
            TermKind::Predicate if low == 0 && width >= 4 => Ok(Term { width, span, ..term }),
            _ => Err(rules::CUT_RESULT.refuse(span, "some bits of a result or memory word")),
        }
    }

    /// True for fields and what the input crossbar's hash can gather from them.
    fn is_gathered(&self, expr: &Expr) -> bool {
        fn leaves(body: &Body<'_, '_>, expr: &Expr, field: &mut bool) -> bool {
            match &expr.kind {
                ExprKind::Slot(slot) => {
                    *field = true;
                    matches!(body.role(*slot), Role::Field)
                }
                ExprKind::WideSlot(_) => {
                    *field = true;
                    true
                }
                ExprKind::Const(_) | ExprKind::WideConst(_) => true,
                ExprKind::Slice(inner, _) | ExprKind::Cast(inner) => leaves(body, inner, field),
                ExprKind::Binary(Binary::Concat | Binary::BitXor, a, b) => {
                    leaves(body, a, field) && leaves(body, b, field)
                }
                _ => false,
            }
        }
        let mut field = false;
        leaves(self, expr, &mut field) && field
    }
}

/// The number that a pattern of this type means.
fn signed(pattern: u128, scalar: Scalar) -> i128 {
    let width = scalar.width().clamp(1, 127);
    let negative = scalar.is_signed() && pattern >> (width - 1) & 1 == 1;
    if negative { pattern as i128 - (1 << width) } else { pattern as i128 }
}
