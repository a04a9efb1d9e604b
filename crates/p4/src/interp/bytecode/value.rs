//! Bytecode generation from expressions.

use super::build::{Builder, CompileResult, Uncompiled, slot_at};
use super::code::{At, BinaryOf, Op, To, UnaryOf};
use crate::interp::arith;
use crate::ir::{Binary, Expr, ExprKind, Scalar, Unary};

/// Operand of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Slot(At),
    Const(u64),
}

/// True if evaluating the expression may fail or has side effects.
fn has_effect(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Lookahead { .. } | ExprKind::Guarded { .. } => true,
        ExprKind::Element { index: a, .. }
        | ExprKind::WideElement { index: a, .. }
        | ExprKind::Unary(_, a)
        | ExprKind::Slice(a, _)
        | ExprKind::Cast(a) => has_effect(a),
        ExprKind::Binary(_, a, b) => has_effect(a) || has_effect(b),
        ExprKind::Mux(c, a, b) => has_effect(c) || has_effect(a) || has_effect(b),
        ExprKind::Const(_)
        | ExprKind::WideConst(_)
        | ExprKind::Slot(_)
        | ExprKind::WideSlot(_)
        | ExprKind::PacketLength => false,
    }
}

/// True if the expression reads bits that the packet may lack.
pub(super) fn looks_ahead(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Lookahead { .. } => true,
        ExprKind::Guarded { valid: a, read: b } | ExprKind::Binary(_, a, b) => {
            looks_ahead(a) || looks_ahead(b)
        }
        ExprKind::Element { index: a, .. }
        | ExprKind::WideElement { index: a, .. }
        | ExprKind::Unary(_, a)
        | ExprKind::Slice(a, _)
        | ExprKind::Cast(a) => looks_ahead(a),
        ExprKind::Mux(c, a, b) => looks_ahead(c) || looks_ahead(a) || looks_ahead(b),
        _ => false,
    }
}

/// True if a value fits a machine word.
fn is_word(expr: &Expr) -> bool {
    expr.scalar.width() <= 64
}

/// 64 minus the width of a value that fits a machine word.
pub(super) fn cut(scalar: Scalar) -> u8 {
    (64 - scalar.width().min(64)) as u8
}

impl Builder<'_> {
    /// Evaluates a narrow expression; returns the operand with its value.
    pub fn operand(&mut self, expr: &Expr) -> CompileResult<Operand> {
        match &expr.kind {
            ExprKind::Slot(slot) => Ok(Operand::Slot(slot_at(*slot)?)),
            ExprKind::Const(value) if *value <= u128::from(u64::MAX) => {
                Ok(Operand::Const(*value as u64))
            }
            // The bits do not change.
            ExprKind::Cast(from)
                if from.scalar.width() == expr.scalar.width()
                    || from.scalar.width() < expr.scalar.width() && !from.scalar.is_signed() =>
            {
                if from.scalar.is_narrow() {
                    self.operand(from)
                } else {
                    self.in_temporary(expr)
                }
            }
            ExprKind::Guarded { valid, read } => {
                self.guard(valid, read)?;
                self.operand(read)
            }
            _ => self.in_temporary(expr),
        }
    }

    fn in_temporary(&mut self, expr: &Expr) -> CompileResult<Operand> {
        let to = self.temporary()?;
        self.into(expr, to)?;
        Ok(Operand::Slot(to))
    }

    /// Reports the read of a field if its header is invalid.
    fn guard(&mut self, valid: &Expr, read: &Expr) -> CompileResult {
        let on = self.label();
        let mark = self.mark();
        let a = self.slot_of(valid)?;
        self.release(mark);
        self.ops.push(Op::JumpIf { a, to: on });
        let expr = self.keep(read);
        self.ops.push(Op::Note { expr });
        self.place(on);
        Ok(())
    }

    fn keep(&mut self, expr: &Expr) -> u32 {
        self.code.exprs.push(expr.clone());
        self.code.exprs.len() as u32 - 1
    }

    /// Evaluates a narrow expression into a slot, which is written last.
    pub fn into(&mut self, expr: &Expr, to: At) -> CompileResult {
        let mark = self.mark();
        let made = self.evaluate(expr, to);
        self.release(mark);
        made
    }

    fn evaluate(&mut self, expr: &Expr, to: At) -> CompileResult {
        match &expr.kind {
            ExprKind::Const(value) => {
                let op = match u64::try_from(*value) {
                    Ok(value) => Op::Set { to, value },
                    Err(_) => {
                        self.code.constants.push(*value);
                        Op::SetLong { to, constant: self.code.constants.len() as u32 - 1 }
                    }
                };
                self.ops.push(op);
                Ok(())
            }
            ExprKind::Binary(op, a, b) if a.scalar.is_narrow() && b.scalar.is_narrow() => {
                self.binary(expr, to, *op, a, b)
            }
            ExprKind::Unary(op, from) if from.scalar.is_narrow() => self.unary(to, *op, from),
            ExprKind::Mux(condition, a, b) => {
                let (other, end) = (self.label(), self.label());
                if looks_ahead(condition) {
                    return Err(Uncompiled);
                }
                self.unless(condition, other)?;
                self.into(a, to)?;
                self.ops.push(Op::Jump { to: end });
                self.place(other);
                self.into(b, to)?;
                self.place(end);
                Ok(())
            }
            ExprKind::Slice(from, low) if from.scalar.is_narrow() => {
                self.slice(to, from, *low, expr.scalar.width())
            }
            ExprKind::Cast(from) if from.scalar.is_narrow() => self.cast(to, from, expr.scalar),
            ExprKind::Guarded { valid, read } => {
                self.guard(valid, read)?;
                self.into(read, to)
            }
            ExprKind::Slot(slot) => {
                let a = slot_at(*slot)?;
                self.ops.push(Op::Move { to, a });
                Ok(())
            }
            _ => {
                let expr = self.keep(expr);
                self.ops.push(Op::Eval { to, expr });
                Ok(())
            }
        }
    }

    fn slice(&mut self, to: At, from: &Expr, low: u32, width: u32) -> CompileResult {
        let a = self.slot_of(from)?;
        let op = if (1..=64).contains(&width) && low + width <= 64 {
            Op::Shift { to, a, left: (64 - low - width) as u8, right: (64 - width) as u8 }
        } else {
            Op::Unary { to, a, what: self.unary_of(UnaryOf::Slice { low, width })? }
        };
        self.ops.push(op);
        Ok(())
    }

    fn cast(&mut self, to: At, from: &Expr, scalar: Scalar) -> CompileResult {
        let a = self.slot_of(from)?;
        let (before, after) = (from.scalar.width(), scalar.width());
        let op = if after == before || before < after && !from.scalar.is_signed() {
            Op::Move { to, a }
        } else if after < before && (1..=64).contains(&after) {
            Op::Shift { to, a, left: (64 - after) as u8, right: (64 - after) as u8 }
        } else {
            Op::Unary { to, a, what: self.unary_of(UnaryOf::Cast(from.scalar, after))? }
        };
        self.ops.push(op);
        Ok(())
    }

    fn unary(&mut self, to: At, op: Unary, from: &Expr) -> CompileResult {
        let a = self.slot_of(from)?;
        let (cut, word) = (cut(from.scalar), (1..=64).contains(&from.scalar.width()));
        let op = match op {
            // The tree tests the lowest bit only, which is all that a bool has.
            Unary::Not => Op::EqualConst { to, a, value: 0 },
            Unary::Complement if word => Op::XorConst { to, a, value: u64::MAX >> cut },
            Unary::Negate if word => Op::SubFromConst { to, a, cut, value: 0 },
            op => Op::Unary { to, a, what: self.unary_of(UnaryOf::Op(op, from.scalar))? },
        };
        self.ops.push(op);
        Ok(())
    }

    fn unary_of(&mut self, what: UnaryOf) -> CompileResult<u16> {
        at_of(&mut self.code.unaries, what)
    }

    fn binary(&mut self, expr: &Expr, to: At, op: Binary, a: &Expr, b: &Expr) -> CompileResult {
        let words = [a, b, expr].iter().all(|e| (1..=64).contains(&e.scalar.width()));
        let (x, y) = (self.operand(a)?, self.operand(b)?);
        if words && let Some(made) = self.word_binary(to, op, (a, x), (b, y)) {
            self.ops.push(made?);
            return Ok(());
        }
        let (x, y) = (self.in_slot(x)?, self.in_slot(y)?);
        let what = BinaryOf { op, scalar: a.scalar, right: b.scalar.width() };
        let what = at_of(&mut self.code.binaries, what)?;
        self.ops.push(Op::Binary { to, a: x, b: y, what });
        Ok(())
    }

    fn in_slot(&mut self, operand: Operand) -> CompileResult<At> {
        match operand {
            Operand::Slot(at) => Ok(at),
            Operand::Const(value) => {
                let to = self.temporary()?;
                self.ops.push(Op::Set { to, value });
                Ok(to)
            }
        }
    }

    /// Emits an operation on machine words, if there is one.
    fn word_binary(
        &mut self,
        to: At,
        op: Binary,
        (left, x): (&Expr, Operand),
        (right, y): (&Expr, Operand),
    ) -> Option<CompileResult<Op>> {
        use Operand::{Const, Slot};
        let scalar = left.scalar;
        let (cut, signed) = (cut(scalar), scalar.is_signed());
        Some(Ok(match (op, x, y) {
            (Binary::Add, Slot(a), Const(value)) | (Binary::Add, Const(value), Slot(a)) => {
                Op::AddConst { to, a, cut, value }
            }
            (Binary::Add, Slot(a), Slot(b)) => Op::Add { to, a, b, cut },
            (Binary::Sub, Slot(a), Const(value)) => {
                Op::AddConst { to, a, cut, value: value.wrapping_neg() }
            }
            (Binary::Sub, Const(value), Slot(a)) => Op::SubFromConst { to, a, cut, value },
            (Binary::Sub, Slot(a), Slot(b)) => Op::Sub { to, a, b, cut },
            (Binary::Mul, Slot(a), Slot(b)) => Op::Mul { to, a, b, cut },
            (Binary::Mul, Slot(a), Const(value)) | (Binary::Mul, Const(value), Slot(a)) => {
                match self.in_slot(Const(value)) {
                    Ok(b) => Op::Mul { to, a, b, cut },
                    Err(left) => return Some(Err(left)),
                }
            }
            (Binary::SatAdd, Slot(a), Slot(b)) if !signed => Op::SatAdd { to, a, b, cut },
            (Binary::SatSub, Slot(a), Slot(b)) if !signed => Op::SatSub { to, a, b },
            (Binary::SatSub, Slot(a), Const(value)) if !signed => Op::SatSubConst { to, a, value },
            (Binary::SatSub, Const(value), Slot(a)) if !signed => {
                Op::SatSubFromConst { to, a, value }
            }
            (Binary::BitAnd | Binary::And, Slot(a), Slot(b)) => Op::And { to, a, b },
            (Binary::BitAnd | Binary::And, Slot(a), Const(value))
            | (Binary::BitAnd | Binary::And, Const(value), Slot(a)) => {
                Op::AndConst { to, a, value }
            }
            (Binary::BitOr | Binary::Or, Slot(a), Slot(b)) => Op::Or { to, a, b },
            (Binary::BitOr | Binary::Or, Slot(a), Const(value))
            | (Binary::BitOr | Binary::Or, Const(value), Slot(a)) => Op::OrConst { to, a, value },
            (Binary::BitXor, Slot(a), Slot(b)) => Op::Xor { to, a, b },
            (Binary::BitXor, Slot(a), Const(value)) | (Binary::BitXor, Const(value), Slot(a)) => {
                Op::XorConst { to, a, value }
            }
            (Binary::Shl, Slot(_), Const(value)) if value >= 64 => Op::Set { to, value: 0 },
            (Binary::Shl, Slot(a), Const(value)) => Op::ShlConst { to, a, cut, by: value as u8 },
            (Binary::Shl, Slot(a), Slot(b)) => Op::Shl { to, a, b, cut },
            (Binary::Shr, Slot(_), Const(value)) if !signed && value >= 64 => {
                Op::Set { to, value: 0 }
            }
            (Binary::Shr, Slot(a), Const(value)) if !signed => {
                Op::Shift { to, a, left: 0, right: value as u8 }
            }
            (Binary::Shr, Slot(a), Slot(b)) if !signed => Op::Shr { to, a, b },
            (Binary::Concat, Slot(a), Slot(b)) => {
                Op::Concat { to, a, b, by: right.scalar.width() as u8 }
            }
            (Binary::Eq, Slot(a), Slot(b)) => Op::Equal { to, a, b },
            (Binary::Eq, Slot(a), Const(value)) | (Binary::Eq, Const(value), Slot(a)) => {
                Op::EqualConst { to, a, value }
            }
            (Binary::Lt, Slot(a), Slot(b)) | (Binary::Gt, Slot(b), Slot(a)) if signed => {
                Op::LessSigned { to, a, b, cut }
            }
            (Binary::Lt, Slot(a), Slot(b)) | (Binary::Gt, Slot(b), Slot(a)) => {
                Op::Less { to, a, b }
            }
            (Binary::Lt, Slot(a), Const(value)) if !signed => Op::LessConst { to, a, value },
            _ => return self.negated(to, op, (left, x), (right, y)),
        }))
    }

    /// Emits comparisons that are the negation of an available one.
    fn negated(
        &mut self,
        to: At,
        op: Binary,
        left: (&Expr, Operand),
        right: (&Expr, Operand),
    ) -> Option<CompileResult<Op>> {
        let made = match op {
            Binary::Ne => self.word_binary(to, Binary::Eq, left, right),
            Binary::Ge => self.word_binary(to, Binary::Lt, left, right),
            Binary::Le => self.word_binary(to, Binary::Lt, right, left),
            _ => None,
        }?;
        Some(made.map(|made| {
            self.ops.push(made);
            Op::XorConst { to, a: to, value: 1 }
        }))
    }

    /// Jumps if a condition does not hold.
    pub fn unless(&mut self, condition: &Expr, to: To) -> CompileResult {
        self.branch(condition, to, false)
    }

    /// Jumps if a condition is `wanted`.
    fn branch(&mut self, condition: &Expr, to: To, wanted: bool) -> CompileResult {
        match &condition.kind {
            ExprKind::Unary(Unary::Not, inner) => self.branch(inner, to, !wanted),
            ExprKind::Binary(Binary::And, a, b) if !has_effect(b) => {
                if wanted {
                    let on = self.label();
                    self.branch(a, on, false)?;
                    self.branch(b, to, true)?;
                    self.place(on);
                    return Ok(());
                }
                self.branch(a, to, false)?;
                self.branch(b, to, false)
            }
            ExprKind::Binary(Binary::Or, a, b) if !has_effect(b) => {
                if !wanted {
                    let on = self.label();
                    self.branch(a, on, true)?;
                    self.branch(b, to, false)?;
                    self.place(on);
                    return Ok(());
                }
                self.branch(a, to, true)?;
                self.branch(b, to, true)
            }
            ExprKind::Binary(op, a, b) if is_word(a) && is_word(b) && is_order(*op) => {
                self.compare(condition, (*op, a, b), to, wanted)
            }
            _ => self.test(condition, to, wanted),
        }
    }

    /// Jumps on a condition that has been evaluated.
    fn test(&mut self, condition: &Expr, to: To, wanted: bool) -> CompileResult {
        match self.operand(condition)? {
            Operand::Const(value) if (value != 0) == wanted => self.ops.push(Op::Jump { to }),
            Operand::Const(_) => {}
            Operand::Slot(a) if wanted => self.ops.push(Op::JumpIf { a, to }),
            Operand::Slot(a) => self.ops.push(Op::JumpUnless { a, to }),
        }
        Ok(())
    }

    fn compare(
        &mut self,
        condition: &Expr,
        (op, a, b): (Binary, &Expr, &Expr),
        to: To,
        wanted: bool,
    ) -> CompileResult {
        use Operand::{Const, Slot};
        let equality = matches!(op, Binary::Eq | Binary::Ne);
        if a.scalar.is_signed() && !equality {
            return self.test(condition, to, wanted);
        }
        let (x, y) = (self.operand(a)?, self.operand(b)?);
        // `a > b` is `b < a`, `a <= b` is not `b < a`.
        let (x, y) = if matches!(op, Binary::Gt | Binary::Le) { (y, x) } else { (x, y) };
        let wanted = wanted == matches!(op, Binary::Eq | Binary::Lt | Binary::Gt);
        let made = match (x, y) {
            (Slot(a), Slot(b)) => match (equality, wanted) {
                (true, true) => Op::JumpEqual { a, b, to },
                (true, false) => Op::JumpNotEqual { a, b, to },
                (false, true) => Op::JumpLess { a, b, to },
                (false, false) => Op::JumpNotLess { a, b, to },
            },
            (Slot(a), Const(value)) | (Const(value), Slot(a)) if equality => match wanted {
                true => Op::JumpEqualConst { a, to, value },
                false => Op::JumpNotEqualConst { a, to, value },
            },
            (Slot(a), Const(value)) => match wanted {
                true => Op::JumpLessConst { a, to, value },
                false => Op::JumpNotLessConst { a, to, value },
            },
            // `value < a` is `!(a < value + 1)`, and never holds for the greatest value.
            (Const(value), Slot(a)) => match (value.checked_add(1), wanted) {
                (Some(value), true) => Op::JumpNotLessConst { a, to, value },
                (Some(value), false) => Op::JumpLessConst { a, to, value },
                (None, true) => return Ok(()),
                (None, false) => Op::Jump { to },
            },
            (Const(x), Const(y)) => {
                let holds = if equality { x == y } else { x < y };
                if holds != wanted {
                    return Ok(());
                }
                Op::Jump { to }
            }
        };
        self.ops.push(made);
        Ok(())
    }
}

fn is_order(op: Binary) -> bool {
    use Binary::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

/// Index of an element in a list without duplicates, which is appended if absent.
fn at_of<T: PartialEq>(list: &mut Vec<T>, what: T) -> CompileResult<u16> {
    let at = list.iter().position(|known| *known == what).unwrap_or_else(|| {
        list.push(what);
        list.len() - 1
    });
    u16::try_from(at).map_err(|_| Uncompiled)
}

impl BinaryOf {
    #[inline]
    pub fn apply(self, a: u128, b: u128) -> u128 {
        arith::binary(self.op, self.scalar, self.right, a, b)
    }
}

impl UnaryOf {
    #[inline]
    pub fn apply(self, a: u128) -> u128 {
        match self {
            UnaryOf::Op(op, scalar) => arith::unary(op, scalar, a),
            UnaryOf::Cast(from, to) => arith::cast(from, to, a),
            UnaryOf::Slice { low, width } => a.checked_shr(low).unwrap_or(0) & arith::mask(width),
        }
    }
}
