//! Statements.

use super::constant::Constant;
use super::effects::has_effects;
use super::layout::{LayoutUse, reads};
use super::{Binding, Elaborator, plain, value};
use crate::hir::{self, Callee, ExprKind as H, StmtKind as S};
use crate::interp::arith;
use crate::ir::{Expr, ExprKind, Layout, Scalar, Stmt, StmtKind};
use crate::source::Span;
use crate::types::Type;
use num_bigint::{BigInt, BigUint};

impl Elaborator<'_> {
    /// Statements in order.
    pub(super) fn statements(&mut self, stmts: &[hir::Stmt]) {
        for stmt in stmts {
            if self.exhausted {
                return;
            }
            self.statement(stmt);
        }
    }

    pub(super) fn statement(&mut self, stmt: &hir::Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            S::Declare(var, init) => self.declare(*var, init.as_ref(), span),
            S::Assign(target, value) => self.assign(target, value, span),
            S::Call(call) => self.call_statement(call),
            S::ApplyTable(table) => self.apply_table(*table, None, None, span),
            S::If(condition, then, otherwise) => {
                self.if_statement(condition, then, otherwise, span)
            }
            S::Block(body) => self.statements(body),
            S::SwitchAction { table, cases, default } => {
                self.switch_action(*table, cases, default, span);
            }
            S::SwitchValue { subject, cases, default } => {
                self.switch_value(subject, cases, default, span);
            }
            S::For { condition, update, body } => self.for_loop(condition, update, body, span),
            S::ForRange { var, low, high, body } => self.for_range(*var, (low, high), body, span),
            S::ForEach { var, collection, body } => self.for_each(*var, collection, body, span),
            S::Break => {
                if let Some(target) = self.unit.loops.last().copied() {
                    self.push(StmtKind::Leave(target.leave), span);
                }
            }
            S::Continue => {
                if let Some(target) = self.unit.loops.last().copied() {
                    self.push(StmtKind::Leave(target.next), span);
                }
            }
            S::Return(value) => self.return_statement(value.as_ref(), span),
            S::Exit => self.exit(span),
            S::SetValid(header, valid) => {
                if let Some(lvalue) = self.place(header, false) {
                    self.set_header_validity(&lvalue, *valid, span);
                }
            }
            S::PushFront(stack, count) => self.shift(stack, *count, true, span),
            S::PopFront(stack, count) => self.shift(stack, *count, false, span),
        }
    }

    fn declare(&mut self, id: hir::VarId, init: Option<&hir::Expr>, span: Span) {
        let ty = self.var_type(id);
        if matches!(plain(ty), Type::InfInt | Type::String | Type::List(_)) {
            if let Some(known) = init.and_then(|init| self.must_know(init, "its value")) {
                self.bindings.insert(id, Binding::Constant(known));
            }
            return;
        }
        // The value may come from the previous iteration of the same declaration.
        let Some(init) = init else {
            let layout = self.local(id);
            return self.start_value(&layout, ty, span);
        };
        let into = self.local(id);
        self.assign_to_fixed(&into, init, span);
    }

    /// Without a value headers are invalid; the rest is undefined, here 0. Methods of objects
    /// remain as written, since a target may compile them.
    fn start_value(&mut self, layout: &Layout, ty: &Type, span: Span) {
        if self.unit.in_method {
            self.invalidate(layout, span);
        } else {
            let zero = self.zero(ty, span);
            self.store_fixed(layout, zero, span);
        }
    }

    fn assign(&mut self, target: &hir::Expr, value: &hir::Expr, span: Span) {
        let Some(lvalue) = self.place(target, has_effects(value)) else { return };
        match lvalue.fixed().cloned() {
            Some(layout) => self.assign_to_fixed(&layout, value, span),
            None => {
                let value = self.value(value);
                self.store(&lvalue, value, span);
            }
        }
    }

    fn assign_to_fixed(&mut self, layout: &Layout, value: &hir::Expr, span: Span) {
        if !matches!(layout, Layout::Narrow(..) | Layout::Wide(..))
            && self.is_plain_place(value)
            && let Some(from) = self.place(value, false)
            && let Some(from) = from.fixed()
            && self.copy(from, layout, span)
        {
            return;
        }
        if let H::Call(call) = &value.kind
            && matches!(call.callee, Callee::Method { .. } | Callee::ExternFunction(_))
        {
            if let Some(result) = self.call(call, Some(layout))
                && !reads(&result, layout)
            {
                self.store_fixed(layout, result, span);
            }
            return;
        }
        let mut lowered = self.value(value);
        if !matches!(lowered, crate::ir::Value::Scalar(_)) && reads(&lowered, layout) {
            lowered = self.save(lowered);
        }
        self.store_fixed(layout, lowered, span);
    }

    /// Copies one range of slots to another of the same shape.
    fn copy(&mut self, from: &Layout, to: &Layout, span: Span) -> bool {
        let (source, target) = (from.range(), to.range());
        let alike = source.narrow_len == target.narrow_len && source.wide_len == target.wide_len;
        if !alike {
            return false;
        }
        if source == target {
            return true;
        }
        let narrow = (source.narrow_start, target.narrow_start, source.narrow_len);
        let wide = (source.wide_start, target.wide_start, source.wide_len);
        self.push(StmtKind::Copy { narrow, wide }, span);
        true
    }

    fn if_statement(
        &mut self,
        condition: &hir::Expr,
        then: &[hir::Stmt],
        otherwise: &[hir::Stmt],
        span: Span,
    ) {
        match self.condition(condition) {
            Ok(true) => self.statements(then),
            Ok(false) => self.statements(otherwise),
            Err(condition) => {
                let then = self.nested(|this| this.statements(then));
                let otherwise = self.nested(|this| this.statements(otherwise));
                self.push(StmtKind::If { condition, then, otherwise }, span);
            }
        }
    }

    fn switch_action(
        &mut self,
        table: hir::TableId,
        cases: &[(Vec<u32>, Vec<hir::Stmt>)],
        default: &[hir::Stmt],
        span: Span,
    ) {
        let bit = Scalar::Bit(32);
        let slot = self.narrow_slot("$action$", bit, LayoutUse { temporary: true, span });
        self.apply_table(table, None, Some(slot), span);
        let subject = Expr { kind: ExprKind::Slot(slot), scalar: bit, span };
        let mut lowered = Vec::new();
        for (labels, body) in cases {
            let labels = labels.iter().map(|label| BigUint::from(*label)).collect();
            lowered.push((labels, self.nested(|this| this.statements(body))));
        }
        let default = self.nested(|this| this.statements(default));
        self.push(StmtKind::Switch { subject, cases: lowered, default }, span);
    }

    fn switch_value(
        &mut self,
        subject: &hir::Expr,
        cases: &[(Vec<BigInt>, Vec<hir::Stmt>)],
        default: &[hir::Stmt],
        span: Span,
    ) {
        if let Some(Constant::Int(value)) = self.known(subject) {
            let body = cases.iter().find(|(labels, _)| labels.contains(&value));
            return self.statements(body.map_or(default, |(_, body)| body));
        }
        let subject = self.scalar(subject);
        let width = subject.scalar.width();
        let mut lowered = Vec::new();
        for (labels, body) in cases {
            let labels = labels.iter().map(|label| arith::pattern(label, width)).collect();
            lowered.push((labels, self.nested(|this| this.statements(body))));
        }
        let default = self.nested(|this| this.statements(default));
        self.push(StmtKind::Switch { subject, cases: lowered, default }, span);
    }

    fn return_statement(&mut self, value: Option<&hir::Expr>, span: Span) {
        let Some(target) = self.unit.returns.last().cloned() else { return };
        if let (Some(value), Some(result)) = (value, &target.result) {
            self.assign_to_fixed(result, value, span);
        }
        self.push(StmtKind::Leave(target.label), span);
    }

    fn shift(&mut self, stack: &hir::Expr, count: u32, push: bool, span: Span) {
        let Some(lvalue) = self.place(stack, true) else { return };
        let shift = |stack| match push {
            true => StmtKind::PushFront { stack, count },
            false => StmtKind::PopFront { stack, count },
        };
        if let Some(layout) = lvalue.fixed().cloned() {
            return self.push(shift(layout), span);
        }
        let copy = self.temporary(&stack.ty, span);
        let now = self.load(&lvalue.place, span);
        self.store_fixed(&copy, now, span);
        self.push(shift(copy.clone()), span);
        self.store(&lvalue, value::of_layout(&copy, span), span);
    }

    /// A statement list with one statement.
    pub(super) fn single(kind: StmtKind, span: Span) -> Vec<Stmt> {
        vec![Stmt { kind, span }]
    }
}
