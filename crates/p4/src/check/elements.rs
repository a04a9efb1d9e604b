//! Parts of values by index: slices of bits, elements of stacks and tuples (specification 8.6, 8.8,
//! 8.12, 8.17).

use super::Checker;
use super::constant;
use super::messages::code;
use super::operand::{broken, integer, is_constant, typed};
use crate::ast::{self, BinaryOp};
use crate::hir::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{MAX_WIDTH, Type};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

impl Checker<'_> {
    /// `base[high:low]`
    pub(super) fn slice(
        &mut self,
        base: &ast::Expr,
        high: &ast::Expr,
        low: &ast::Expr,
        span: Span,
    ) -> Expr {
        let base = self.slice_base(base);
        let (high_at, low_at) = (high.span, low.span);
        let high = self.known_count(high, "the upper end of a slice");
        let low = self.known_count(low, "the lower end of a slice");
        let (Some(high), Some(low), Some(base)) = (high, low, base) else { return broken(span) };
        if low > high {
            let message = format!("the upper end of a slice is below the lower: [{high}:{low}]");
            self.error(code::OUT_OF_RANGE, high_at.to(low_at), message);
            return broken(span);
        }
        self.slice_of(base, high, low, span)
    }

    fn slice_base(&mut self, base: &ast::Expr) -> Option<Expr> {
        let base = self.expr(base, None);
        let base = self.enum_as_number(base);
        match base.ty {
            Type::Bit(_) | Type::Int(_) | Type::InfInt => Some(base),
            Type::Unknown => None,
            _ => {
                let message = format!("only numbers have slices, found `{}`", self.show(&base.ty));
                self.error(code::OPERANDS, base.span, message);
                None
            }
        }
    }

    fn slice_of(&mut self, base: Expr, high: u32, low: u32, span: Span) -> Expr {
        if let Type::Bit(width) | Type::Int(width) = base.ty
            && high >= width
        {
            let shown = self.show(&base.ty);
            let message = format!("bit {high} is outside of `{shown}`");
            self.error(code::OUT_OF_RANGE, span, message);
            return broken(span);
        }
        let Some(width) = (high - low).checked_add(1).filter(|width| *width <= MAX_WIDTH) else {
            self.error(code::BAD_WIDTH, span, "the slice is too wide");
            return broken(span);
        };
        if let ExprKind::Const(Value::Int(n)) = &base.kind {
            return integer(constant::slice(n, high, low), Type::Bit(width), span);
        }
        typed(ExprKind::Slice(Box::new(base), high, low), Type::Bit(width), span)
    }

    /// `base[low +: width]`; an unknown `low` becomes a shift and a slice.
    pub(super) fn slice_from(
        &mut self,
        base: &ast::Expr,
        low: &ast::Expr,
        width: &ast::Expr,
        span: Span,
    ) -> Expr {
        let base = self.slice_base(base);
        let width_at = width.span;
        let width = self.known_count(width, "the width of a slice");
        let low = self.expr(low, None);
        let low = self.enum_as_number(low);
        let (Some(width), Some(base)) = (width, base) else { return broken(span) };
        if width == 0 {
            self.error(code::BAD_WIDTH, width_at, "a slice has at least one bit");
            return broken(span);
        }
        match (&low.kind, &low.ty) {
            (_, Type::Unknown) => broken(span),
            (ExprKind::Const(Value::Int(n)), Type::Bit(_) | Type::Int(_) | Type::InfInt) => {
                let ends = n.to_u32().and_then(|low| Some((low.checked_add(width - 1)?, low)));
                match ends {
                    Some((high, low)) => self.slice_of(base, high, low, span),
                    None => {
                        let message = format!("a slice cannot begin at bit {n}");
                        self.error(code::OUT_OF_RANGE, low.span, message);
                        broken(span)
                    }
                }
            }
            (_, Type::Bit(_)) => self.moving_slice(base, low, width, span),
            _ => {
                let shown = self.show(&low.ty);
                let message = format!("the lower end of a slice must be `bit<W>`, found `{shown}`");
                self.error(code::OPERANDS, low.span, message);
                broken(span)
            }
        }
    }

    fn moving_slice(&mut self, base: Expr, low: Expr, width: u32, span: Span) -> Expr {
        let base_width = match base.ty {
            Type::Bit(width) | Type::Int(width) => width,
            _ => {
                let message = "a slice of a plain number must begin at a known bit";
                self.error(code::NOT_CONSTANT, low.span, message);
                return broken(span);
            }
        };
        if width > base_width {
            let message =
                format!("a slice of {width} bits is wider than `{}`", self.show(&base.ty));
            self.error(code::OUT_OF_RANGE, span, message);
            return broken(span);
        }
        let unsigned = Type::Bit(base_width);
        let base = match base.ty {
            Type::Int(_) => typed(ExprKind::Cast(Box::new(base)), unsigned.clone(), span),
            _ => base,
        };
        let shifted = ExprKind::Binary(BinaryOp::Shr, Box::new(base), Box::new(low));
        let shifted = typed(shifted, unsigned, span);
        typed(ExprKind::Slice(Box::new(shifted), width - 1, 0), Type::Bit(width), span)
    }

    /// `base[index]`
    pub(super) fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let base = self.expr(base, None);
        let index = self.expr(index, None);
        let index = self.enum_as_number(index);
        if base.ty == Type::Unknown || index.ty == Type::Unknown {
            return broken(span);
        }
        if !matches!(index.ty, Type::Bit(_) | Type::Int(_) | Type::InfInt) {
            let message = format!("an index must be a number, found `{}`", self.show(&index.ty));
            self.error(code::OPERANDS, index.span, message);
            return broken(span);
        }
        let known = match &index.kind {
            ExprKind::Const(Value::Int(n)) => Some(n.clone()),
            _ => None,
        };
        let (length, element) = match (&base.ty, &known) {
            (Type::Stack(element, n), _) => (*n as usize, Some((**element).clone())),
            (Type::Tuple(elements), Some(n)) => {
                let element = n.to_usize().and_then(|n| elements.get(n).cloned());
                (elements.len(), element)
            }
            (Type::Tuple(_), None) => {
                let message = "the index of a tuple must be known where it stands";
                self.error(code::NOT_CONSTANT, index.span, message);
                return broken(span);
            }
            _ => {
                let message = format!("`{}` has no elements to index", self.show(&base.ty));
                self.error(code::OPERANDS, span, message);
                return broken(span);
            }
        };
        if let Some(n) = &known
            && (n.is_negative() || *n >= BigInt::from(length))
        {
            let message = format!("the index {n} is out of range: there are {length} elements");
            self.error(code::OUT_OF_RANGE, index.span, message);
            return broken(span);
        }
        let Some(element) = element else { return broken(span) };
        self.indexed(base, index, known, element, span)
    }

    fn indexed(
        &mut self,
        base: Expr,
        index: Expr,
        known: Option<BigInt>,
        element: Type,
        span: Span,
    ) -> Expr {
        if let (ExprKind::Aggregate(elements), Some(n)) = (&base.kind, known.as_ref()) {
            let chosen = n.to_usize().and_then(|n| elements.get(n));
            if let Some(chosen) = chosen.filter(|_| is_constant(&base)) {
                return Expr { span, ..chosen.clone() };
            }
        }
        let index = match (&index.kind, &index.ty) {
            (ExprKind::Const(Value::Int(n)), _) => integer(n.clone(), Type::Bit(32), index.span),
            (_, Type::InfInt) => {
                let at = index.span;
                typed(ExprKind::Cast(Box::new(index)), Type::Bit(32), at)
            }
            _ => index,
        };
        typed(ExprKind::Index(Box::new(base), Box::new(index)), element, span)
    }
}
