//! Expressions become values without side effects; those with side effects become statements.

use super::constant::Constant;
use super::effects::has_effects;
use super::lvalue::{self, FrameLocation};
use super::value::{self, binary, constant};
use super::{Elaborator, plain};
use crate::ast::{BinaryOp, UnaryOp};
use crate::hir::{self, ApplyResult, ExprKind as H};
use crate::ir::{Binary, Expr, ExprKind, Layout, Scalar, StmtKind, Unary, Value};
use crate::source::Span;
use crate::types::Type;
use num_traits::ToPrimitive;

impl Elaborator<'_> {
    /// The value of a scalar expression.
    pub(super) fn scalar(&mut self, expr: &hir::Expr) -> Expr {
        match self.value(expr) {
            Value::Scalar(scalar) => scalar,
            _ => {
                // Only after an error of the elaborator: the checker has validated the types.
                let scalar = super::components::scalar(&expr.ty).unwrap_or(Scalar::Bit(32));
                constant(0, scalar, expr.span)
            }
        }
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &hir::Expr) -> Value {
        let span = expr.span;
        if self.exhausted {
            return self.zero(&expr.ty, span);
        }
        if let Some(known) = self.known_here(expr) {
            return self.known_value(&known, &expr.ty, span);
        }
        match &expr.kind {
            H::Const(_) | H::InvalidHeader => self.zero(&expr.ty, span),
            H::Var(_) | H::StackNext(_) | H::StackLast(_) => match self.place(expr, false) {
                Some(lvalue) => self.load(&lvalue.place, span),
                None => self.lost(expr),
            },
            H::Field(base, at) => self.field(expr, base, *at),
            H::Index(base, index) => self.index(expr, base, index),
            H::Slice(base, high, low) => {
                let base = self.scalar(base);
                Value::Scalar(lvalue::sliced(base, *high, *low, span))
            }
            H::StackLastIndex(base) => self.last_index(base, span),
            H::IsValid(base) => {
                let base = self.value(base);
                Value::Scalar(lvalue::any_valid(&base, span))
            }
            H::Unary(op, base) => self.unary(*op, base, span),
            H::Binary(op, a, b) => self.binary(expr, *op, a, b),
            H::Mux(condition, a, b) => self.mux(expr, condition, a, b),
            H::Cast(base) => {
                let base = self.value(base);
                value::retype(base, &expr.ty, span)
            }
            H::Aggregate(items) => {
                let parts = self.values(&items.iter().collect::<Vec<_>>());
                value::assemble(&expr.ty, parts, span)
            }
            H::Call(call) => match self.call(call, None) {
                Some(value) => value,
                None => self.zero(&expr.ty, span),
            },
            H::ApplyTable(table, which) => {
                let wanted = Type::Bool;
                let Layout::Narrow(hit, _) = self.temporary(&wanted, span) else {
                    return self.zero(&wanted, span);
                };
                self.apply_table(*table, Some(hit), None, span);
                let hit = Expr { kind: ExprKind::Slot(hit), scalar: Scalar::Bool, span };
                Value::Scalar(match which {
                    ApplyResult::Hit => hit,
                    ApplyResult::Miss => value::unary(Unary::Not, hit, span),
                })
            }
        }
    }

    /// Constant value of an expression that is folded here: a constant, a variable, an `int`, or an
    /// expression with a name of known value. Other constant expressions remain.
    fn known_here(&self, expr: &hir::Expr) -> Option<Constant> {
        let fold = match &expr.kind {
            H::Const(_) | H::Var(_) | H::InvalidHeader => true,
            _ => plain(&expr.ty) == &Type::InfInt || mentions_known(expr, self),
        };
        if fold { self.known(expr) } else { None }
    }

    fn lost(&mut self, expr: &hir::Expr) -> Value {
        self.error("E1307", expr.span, "this has no value at run time");
        self.zero(&expr.ty, expr.span)
    }

    /// Values evaluated from left to right, earlier ones saved where later ones have effects.
    pub(super) fn values(&mut self, exprs: &[&hir::Expr]) -> Vec<Value> {
        let mut values = Vec::with_capacity(exprs.len());
        for (at, expr) in exprs.iter().enumerate() {
            let value = self.value(expr);
            let later = exprs[at + 1..].iter().any(|later| has_effects(later));
            values.push(if later { self.save(value) } else { value });
        }
        values
    }

    fn field(&mut self, expr: &hir::Expr, base: &hir::Expr, at: u32) -> Value {
        if let Some(lvalue) = self.place(expr, false) {
            return self.load(&lvalue.place, expr.span);
        }
        let base = self.value(base);
        match value::parts(&base).get(at as usize) {
            Some(part) => part.clone(),
            None => self.lost(expr),
        }
    }

    fn index(&mut self, expr: &hir::Expr, base: &hir::Expr, index: &hir::Expr) -> Value {
        if let Some(lvalue) = self.place(expr, false) {
            return self.load(&lvalue.place, expr.span);
        }
        let values = self.value(base);
        if let Some(Constant::Int(at)) = self.known(index) {
            let part = at.to_usize().and_then(|at| value::parts(&values).get(at));
            return part.cloned().unwrap_or_else(|| self.zero(&expr.ty, expr.span));
        }
        // Only a stored value can be indexed at run time.
        let index = self.scalar(index);
        let parts = value::parts(&values).to_vec();
        let mut chosen = self.zero(&expr.ty, expr.span);
        for (at, part) in parts.into_iter().enumerate().rev() {
            let at = constant(at as u128, index.scalar, expr.span);
            let here = binary(Binary::Eq, index.clone(), at, Scalar::Bool, expr.span);
            chosen = chosen_of(&here, part, chosen, expr.span);
        }
        chosen
    }

    fn last_index(&mut self, base: &hir::Expr, span: Span) -> Value {
        let bit = Scalar::Bit(32);
        let next = match self.value(base) {
            Value::Stack { next, .. } => next,
            _ => constant(0, bit, span),
        };
        Value::Scalar(binary(Binary::Sub, next, constant(1, bit, span), bit, span))
    }

    fn unary(&mut self, op: UnaryOp, base: &hir::Expr, span: Span) -> Value {
        let base = self.scalar(base);
        Value::Scalar(match op {
            UnaryOp::Not => value::unary(Unary::Not, base, span),
            UnaryOp::Complement => value::unary(Unary::Complement, base, span),
            UnaryOp::Negate => value::unary(Unary::Negate, base, span),
            UnaryOp::Plus => base,
        })
    }

    fn binary(&mut self, expr: &hir::Expr, op: BinaryOp, a: &hir::Expr, b: &hir::Expr) -> Value {
        let span = expr.span;
        if matches!(op, BinaryOp::And | BinaryOp::Or) && has_effects(b) {
            return self.short_circuit(op, a, b, span);
        }
        let values = self.values(&[a, b]);
        let [x, y] = &values[..] else { return self.lost(expr) };
        match op {
            BinaryOp::Eq => return Value::Scalar(lvalue::equal(x, y, span)),
            BinaryOp::Ne => {
                return Value::Scalar(match (x, y) {
                    (Value::Scalar(x), Value::Scalar(y)) => {
                        binary(Binary::Ne, x.clone(), y.clone(), Scalar::Bool, span)
                    }
                    _ => value::unary(Unary::Not, lvalue::equal(x, y, span), span),
                });
            }
            _ => {}
        }
        let (Value::Scalar(x), Value::Scalar(y)) = (x, y) else { return self.lost(expr) };
        let scalar = super::components::scalar(&expr.ty).unwrap_or(x.scalar);
        Value::Scalar(binary(operator(op), x.clone(), y.clone(), scalar, span))
    }

    /// `&&` and `||` whose right side has effects.
    fn short_circuit(&mut self, op: BinaryOp, a: &hir::Expr, b: &hir::Expr, span: Span) -> Value {
        let first = self.scalar(a);
        let Layout::Narrow(slot, scalar) = self.temporary(&Type::Bool, span) else {
            return Value::Scalar(first);
        };
        self.push(StmtKind::Set(slot, first), span);
        let second = self.nested(|this| {
            let second = this.scalar(b);
            this.push(StmtKind::Set(slot, second), span);
        });
        let condition = Expr { kind: ExprKind::Slot(slot), scalar, span };
        let (then, otherwise) = match op {
            BinaryOp::And => (second, Vec::new()),
            _ => (Vec::new(), second),
        };
        self.push(StmtKind::If { condition: condition.clone(), then, otherwise }, span);
        Value::Scalar(condition)
    }

    fn mux(
        &mut self,
        expr: &hir::Expr,
        condition: &hir::Expr,
        a: &hir::Expr,
        b: &hir::Expr,
    ) -> Value {
        let span = expr.span;
        if !has_effects(a) && !has_effects(b) {
            let condition = self.scalar(condition);
            let (a, b) = (self.value(a), self.value(b));
            return chosen_of(&condition, a, b, span);
        }
        let condition = self.scalar(condition);
        let result = self.temporary(&expr.ty, span);
        let branch = |this: &mut Self, expr: &hir::Expr| {
            this.nested(|this| {
                let value = this.value(expr);
                this.store_fixed(&result, value, span);
            })
        };
        let then = branch(self, a);
        let otherwise = branch(self, b);
        self.push(StmtKind::If { condition, then, otherwise }, span);
        self.load(&FrameLocation::Fixed(result), span)
    }

    /// The condition of a statement, or its known value.
    pub(super) fn condition(&mut self, expr: &hir::Expr) -> Result<bool, Expr> {
        match self.known(expr) {
            Some(Constant::Bool(value)) => Ok(value),
            _ => Err(self.scalar(expr)),
        }
    }
}

/// True if the expression contains a name with a known value.
fn mentions_known(expr: &hir::Expr, at: &Elaborator<'_>) -> bool {
    match &expr.kind {
        H::Var(id) => matches!(at.bindings.get(id), Some(super::Binding::Constant(_))),
        H::Field(e, _)
        | H::Slice(e, ..)
        | H::StackNext(e)
        | H::StackLast(e)
        | H::StackLastIndex(e)
        | H::IsValid(e)
        | H::Unary(_, e)
        | H::Cast(e) => mentions_known(e, at),
        H::Index(a, b) | H::Binary(_, a, b) => mentions_known(a, at) || mentions_known(b, at),
        H::Mux(a, b, c) => [a, b, c].iter().any(|e| mentions_known(e, at)),
        H::Aggregate(items) => items.iter().any(|e| mentions_known(e, at)),
        _ => false,
    }
}

/// `condition ? a : b`, scalar by scalar.
fn chosen_of(condition: &Expr, a: Value, b: Value, span: Span) -> Value {
    let mut others = Vec::new();
    value::any_leaf(&b, &mut |leaf| {
        others.push(leaf.clone());
        false
    });
    let mut others = others.into_iter();
    if !matches!(a, Value::Scalar(_)) && others.len() == 0 {
        return a;
    }
    let mut mux = |a: Expr| match others.next() {
        Some(b) => {
            let scalar = a.scalar;
            let operands = (Box::new(condition.clone()), Box::new(a), Box::new(b));
            Expr { kind: ExprKind::Mux(operands.0, operands.1, operands.2), scalar, span }
        }
        None => a,
    };
    // Both walks visit scalars in the same order.
    value::map(a, &mut mux)
}

fn operator(op: BinaryOp) -> Binary {
    match op {
        BinaryOp::Mul => Binary::Mul,
        BinaryOp::Div => Binary::Div,
        BinaryOp::Mod => Binary::Mod,
        BinaryOp::Add => Binary::Add,
        BinaryOp::Sub => Binary::Sub,
        BinaryOp::SatAdd => Binary::SatAdd,
        BinaryOp::SatSub => Binary::SatSub,
        BinaryOp::Shl => Binary::Shl,
        BinaryOp::Shr => Binary::Shr,
        BinaryOp::Le => Binary::Le,
        BinaryOp::Ge => Binary::Ge,
        BinaryOp::Lt => Binary::Lt,
        BinaryOp::Gt => Binary::Gt,
        BinaryOp::Ne => Binary::Ne,
        BinaryOp::Eq => Binary::Eq,
        BinaryOp::BitAnd => Binary::BitAnd,
        BinaryOp::BitXor => Binary::BitXor,
        BinaryOp::BitOr => Binary::BitOr,
        BinaryOp::Concat => Binary::Concat,
        BinaryOp::And => Binary::And,
        BinaryOp::Or => Binary::Or,
    }
}
