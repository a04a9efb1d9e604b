//! Scalar expressions: the narrow path on `u128`, the wide path on `BigUint`.

use super::arith;
use super::context::Context;
use crate::ir::{Expr, ExprKind, Slot, WideSlot};
use num_bigint::BigUint;

impl Context<'_> {
    /// The value of an expression of at most 128 bits, as its pattern; of a wider one the low 128.
    // Most operands are slots and constants, which are read without a call.
    #[inline(always)]
    pub fn eval(&self, expr: &Expr) -> u128 {
        match &expr.kind {
            ExprKind::Const(value) => *value,
            ExprKind::Slot(slot) => self.frame.get(*slot),
            _ => self.eval_operation(expr),
        }
    }

    fn eval_operation(&self, expr: &Expr) -> u128 {
        match &expr.kind {
            ExprKind::Const(value) => *value,
            ExprKind::Slot(slot) => self.frame.get(*slot),
            ExprKind::Binary(op, a, b) if a.scalar.is_narrow() && b.scalar.is_narrow() => {
                let (x, y) = (self.eval(a), self.eval(b));
                arith::binary(*op, a.scalar, b.scalar.width(), x, y)
            }
            ExprKind::Unary(op, a) if a.scalar.is_narrow() => {
                arith::unary(*op, a.scalar, self.eval(a))
            }
            ExprKind::Mux(condition, a, b) => {
                if self.eval(condition) != 0 {
                    self.eval(a)
                } else {
                    self.eval(b)
                }
            }
            ExprKind::Slice(base, low) if base.scalar.is_narrow() => {
                let shifted = self.eval(base).checked_shr(*low).unwrap_or(0);
                shifted & arith::mask(expr.scalar.width())
            }
            ExprKind::Cast(from) if from.scalar.is_narrow() => {
                arith::cast(from.scalar, expr.scalar.width(), self.eval(from))
            }
            ExprKind::Element { base, stride, count, index } => self
                .element(*stride, *count, index)
                .map_or(0, |offset| self.frame.get(Slot(base.0.saturating_add(offset)))),
            ExprKind::Lookahead { offset } => self.lookahead(*offset, expr.scalar.width()),
            ExprKind::PacketLength => self.packet_length(),
            ExprKind::Guarded { valid, read } => {
                self.guard(valid, read);
                self.eval(read)
            }
            _ => arith::narrowed(&self.eval_wide(expr)),
        }
    }

    /// The value of an expression of any width, as its pattern.
    pub fn eval_wide(&self, expr: &Expr) -> BigUint {
        match &expr.kind {
            ExprKind::WideConst(value) => value.clone(),
            ExprKind::WideSlot(slot) => self.frame.get_wide(*slot),
            ExprKind::Binary(op, a, b) if !is_narrow_op(expr, a, b) => {
                let (x, y) = (self.eval_wide(a), self.eval_wide(b));
                arith::wide_binary(*op, a.scalar, b.scalar.width(), &x, &y)
            }
            ExprKind::Unary(op, a) if !a.scalar.is_narrow() => {
                arith::wide_unary(*op, a.scalar, &self.eval_wide(a))
            }
            ExprKind::Mux(condition, a, b) => {
                if self.eval(condition) != 0 {
                    self.eval_wide(a)
                } else {
                    self.eval_wide(b)
                }
            }
            ExprKind::Slice(base, low) => {
                (self.eval_wide(base) >> *low) & arith::wide_mask(expr.scalar.width())
            }
            ExprKind::Cast(from) => {
                arith::wide_cast(from.scalar, expr.scalar.width(), &self.eval_wide(from))
            }
            ExprKind::WideElement { base, stride, count, index } => {
                self.element(*stride, *count, index).map_or_else(BigUint::default, |offset| {
                    self.frame.get_wide(WideSlot(base.0.saturating_add(offset)))
                })
            }
            ExprKind::Lookahead { offset } if !expr.scalar.is_narrow() => {
                self.wide_lookahead(*offset, expr.scalar.width())
            }
            ExprKind::Guarded { valid, read } => {
                self.guard(valid, read);
                self.eval_wide(read)
            }
            _ => BigUint::from(self.eval(expr)),
        }
    }

    /// Reports the read of a field if its header is invalid.
    #[inline]
    fn guard(&self, valid: &Expr, read: &Expr) {
        if self.eval(valid) == 0 {
            self.invalid.note(read);
        }
    }

    /// Offset of the element with this index from its base, if there is one.
    #[inline]
    pub(super) fn element(&self, stride: u32, count: u32, index: &Expr) -> Option<u32> {
        let index = if index.scalar.is_narrow() {
            self.eval(index)
        } else {
            u128::try_from(self.eval_wide(index)).unwrap_or(u128::MAX)
        };
        (index < u128::from(count)).then(|| stride.saturating_mul(index as u32))
    }

    /// Records an error if the packet ends before `offset + width` bits behind the cursor.
    fn lookahead_fits(&self, offset: u32, width: u32) -> bool {
        let needed = u64::from(offset) + u64::from(width);
        let fits = self.packet.as_ref().is_some_and(|packet| packet.remaining() >= needed);
        if !fits {
            self.failed.set(Some(self.errors.packet_too_short));
        }
        fits
    }

    fn lookahead(&self, offset: u32, width: u32) -> u128 {
        match &self.packet {
            Some(packet) if self.lookahead_fits(offset, width) => packet.peek(offset.into(), width),
            _ => 0,
        }
    }

    fn wide_lookahead(&self, offset: u32, width: u32) -> BigUint {
        match &self.packet {
            Some(packet) if self.lookahead_fits(offset, width) => {
                packet.peek_wide(offset.into(), width)
            }
            _ => BigUint::default(),
        }
    }

    fn packet_length(&self) -> u128 {
        self.packet.as_ref().map_or(0, |packet| packet.len().into())
    }
}

/// True if operands and result all fit the narrow path.
fn is_narrow_op(expr: &Expr, a: &Expr, b: &Expr) -> bool {
    expr.scalar.is_narrow() && a.scalar.is_narrow() && b.scalar.is_narrow()
}
