//! Loops (specification 12.8).

use super::constant::Constant;
use super::{Binding, Elaborator, LoopTarget, plain, value};
use crate::hir::{self, VarId};
use crate::ir::{Binary, Expr, Label, Scalar, StmtKind, Value};
use crate::source::Span;
use crate::types::Type;
use num_bigint::BigInt;

/// Maximum number of iterations of a loop over numbers of type `int`, which is unrolled.
const MAX_ROUNDS: u32 = 1 << 16;

impl Elaborator<'_> {
    /// One iteration of a body: `break` leaves the loop, `continue` the iteration.
    fn round(&mut self, leave: Label, body: &[hir::Stmt], span: Span) {
        let next = self.label();
        self.unit.loops.push(LoopTarget { leave, next });
        let body = self.nested(|this| this.statements(body));
        self.unit.loops.pop();
        self.close_block(next, body, span);
    }

    /// `for (init; condition; update)`
    pub(super) fn for_loop(
        &mut self,
        condition: &hir::Expr,
        update: &[hir::Stmt],
        body: &[hir::Stmt],
        span: Span,
    ) {
        let label = self.label();
        let rounds = self.nested(|this| {
            match this.condition(condition) {
                Ok(true) => {}
                Ok(false) => this.push(StmtKind::Leave(label), condition.span),
                Err(holds) => {
                    let otherwise = Self::single(StmtKind::Leave(label), condition.span);
                    let stop = StmtKind::If { condition: holds, then: Vec::new(), otherwise };
                    this.push(stop, condition.span);
                }
            }
            this.round(label, body, span);
            this.statements(update);
        });
        self.push(StmtKind::Loop { label, body: rounds }, span);
    }

    /// `for (T var in low .. high)`: both ends are evaluated once and included.
    pub(super) fn for_range(
        &mut self,
        var: VarId,
        (low, high): (&hir::Expr, &hir::Expr),
        body: &[hir::Stmt],
        span: Span,
    ) {
        if plain(self.var_type(var)) == &Type::InfInt {
            return self.for_known_range(var, (low, high), body, span);
        }
        let ends = self.values(&[low, high]);
        let [Value::Scalar(low), Value::Scalar(high)] = &ends[..] else { return };
        let scalar = super::components::scalar(self.var_type(var)).unwrap_or(low.scalar);
        let current = self.in_temporary(super::lvalue::recast(low.clone(), scalar, span));
        let last = self.saved(super::lvalue::recast(high.clone(), scalar, span));
        let layout = self.local(var);
        let compare =
            |op, a: &Expr, b: &Expr| value::binary(op, a.clone(), b.clone(), Scalar::Bool, span);
        let label = self.label();
        let leave = Self::single(StmtKind::Leave(label), span);
        let rounds = self.nested(|this| {
            this.store_fixed(&layout, Value::Scalar(current.clone()), span);
            this.round(label, body, span);
            // The last value may be the type's largest, so it is compared before the increment.
            let done = compare(Binary::Eq, &current, &last);
            let stop = StmtKind::If { condition: done, then: leave, otherwise: Vec::new() };
            this.push(stop, span);
            let one = value::constant(1, scalar, span);
            let more = value::binary(Binary::Add, current.clone(), one, scalar, span);
            this.set_temporary(&current, more, span);
        });
        let looped = self.nested(|this| {
            this.push(StmtKind::Loop { label, body: rounds }, span);
        });
        let condition = compare(Binary::Le, &current, &last);
        self.push(StmtKind::If { condition, then: looped, otherwise: Vec::new() }, span);
    }

    fn set_temporary(&mut self, temporary: &Expr, to: Expr, span: Span) {
        match temporary.kind {
            crate::ir::ExprKind::Slot(slot) => self.push(StmtKind::Set(slot, to), span),
            crate::ir::ExprKind::WideSlot(slot) => self.push(StmtKind::SetWide(slot, to), span),
            _ => {}
        }
    }

    /// A range of numbers without a width, which is unrolled.
    fn for_known_range(
        &mut self,
        var: VarId,
        (low, high): (&hir::Expr, &hir::Expr),
        body: &[hir::Stmt],
        span: Span,
    ) {
        let ends = (
            self.must_know(low, "a loop's first value"),
            self.must_know(high, "a loop's last value"),
        );
        let (Some(Constant::Int(low)), Some(Constant::Int(high))) = ends else { return };
        if &high - &low > BigInt::from(MAX_ROUNDS) {
            let message = format!("a loop over `int` may have at most {MAX_ROUNDS} rounds");
            self.error("E1302", span, message);
            return;
        }
        self.note_unrolled(span);
        let leave = self.label();
        let rounds = self.nested(|this| {
            let mut number = low;
            while number <= high && !this.exhausted {
                this.bindings.insert(var, Binding::Constant(Constant::Int(number.clone())));
                this.round(leave, body, span);
                number += 1;
            }
        });
        self.close_block(leave, rounds, span);
    }

    fn note_unrolled(&mut self, span: Span) {
        let unrolled = &mut self.out.declared.unrolled;
        unrolled.extend(self.unit.id.map(|unit| (unit, span)));
    }

    /// `for (T var in collection)`: written out, element by element; the collection is evaluated
    /// once.
    pub(super) fn for_each(
        &mut self,
        var: VarId,
        collection: &hir::Expr,
        body: &[hir::Stmt],
        span: Span,
    ) {
        self.note_unrolled(span);
        let untyped = matches!(plain(self.var_type(var)), Type::InfInt | Type::String);
        let known = if untyped { self.must_know(collection, "the collection") } else { None };
        if let Some(Constant::Aggregate(items)) = known {
            let leave = self.label();
            let rounds = self.nested(|this| {
                for item in items {
                    this.bindings.insert(var, Binding::Constant(item));
                    this.round(leave, body, span);
                }
            });
            return self.close_block(leave, rounds, span);
        }
        let value = self.value(collection);
        let value = self.save(value);
        let layout = self.local(var);
        let leave = self.label();
        let rounds = self.nested(|this| {
            for part in value::parts(&value) {
                if this.exhausted {
                    break;
                }
                this.store_fixed(&layout, part.clone(), span);
                this.round(leave, body, span);
            }
        });
        self.close_block(leave, rounds, span);
    }
}
