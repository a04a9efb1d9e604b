//! Inlining of functions, actions and sub-controls.
//!
//! Arguments are evaluated from left to right, then copied in; results are copied out from left to
//! right, also after `return` and `exit` (specification 6.8, 12.4, 12.5). If no two arguments share
//! a slot and the callee cannot access the caller's variables otherwise, the callee uses the
//! arguments' own slots: the result is the same.

use super::call::{CopyOut, overlap};
use super::effects::arg_has_effects;
use super::layout::LayoutUse;
use super::lvalue::Lvalue;
use super::{Binding, Elaborator, ExitTarget, ReturnTarget, value};
use crate::hir::{self, ActionId, Callee, FunctionId, Object, VarId};
use crate::ir::{Expr, ExprKind, Layout, Scalar, Slot, StmtKind, Value};
use crate::source::Span;
use crate::types::Type;

/// An argument after its evaluation.
enum EvaluatedArgument {
    /// Bound already.
    Done,
    /// Read-only, in these slots.
    In(Layout),
    /// Written, in these slots. True if it is also read.
    Out(Lvalue, Layout, bool),
    /// Written on return.
    Copied,
}

/// Binding mode of parameters.
#[derive(Clone, Copy)]
pub(super) struct BindingMode {
    /// The callee accesses only its own variables.
    pub by_place: bool,
    /// Another call may be bound meanwhile: then its parameters get slots of their own.
    pub may_renew: bool,
    /// The scope that owns the slots of copied parameters.
    pub owner: usize,
}

impl Elaborator<'_> {
    /// Binds parameters to arguments; returns the copies to make on return.
    pub(super) fn bind(
        &mut self,
        params: &[VarId],
        args: &[hir::Arg],
        binding_mode: BindingMode,
    ) -> Vec<CopyOut> {
        let fresh = binding_mode.may_renew && args.iter().any(arg_has_effects);
        let mut ready = Vec::with_capacity(args.len());
        let mut extents: Vec<(usize, Layout)> = Vec::new();
        let mut copies = Vec::new();
        let mut bindings: Vec<(VarId, Binding)> = Vec::new();
        for (at, (param, arg)) in params.iter().zip(args).enumerate() {
            let later = args[at + 1..].iter().any(arg_has_effects);
            let by_place = binding_mode.by_place && !later;
            let prepared = match arg {
                hir::Arg::In(expr) => self.bind_in(*param, expr, by_place, fresh, binding_mode),
                hir::Arg::Out(expr) | hir::Arg::InOut(expr) => {
                    let both = matches!(arg, hir::Arg::InOut(_));
                    match self.place(expr, true) {
                        Some(lvalue) => {
                            extents.push((at, lvalue.extent()));
                            match lvalue.fixed().cloned().filter(|_| by_place) {
                                Some(layout) => {
                                    (EvaluatedArgument::Out(lvalue, layout, both), None)
                                }
                                None => {
                                    let from = self.parameter(*param, fresh, binding_mode);
                                    if both {
                                        let now = self.load(&lvalue.place, expr.span);
                                        self.store_fixed(&from, now, expr.span);
                                    }
                                    let span = expr.span;
                                    copies.push((
                                        at,
                                        CopyOut { to: lvalue, from: from.clone(), span },
                                    ));
                                    (EvaluatedArgument::Copied, Some(Binding::Place(from)))
                                }
                            }
                        }
                        None => (EvaluatedArgument::Done, None),
                    }
                }
                hir::Arg::DontCare => {
                    let layout = self.parameter(*param, fresh, binding_mode);
                    self.invalidate(&layout, self.var(*param).span);
                    (EvaluatedArgument::Done, Some(Binding::Place(layout)))
                }
                hir::Arg::Absent => (EvaluatedArgument::Done, None),
                hir::Arg::Object(object) => {
                    (EvaluatedArgument::Done, self.resolve(object, self.var(*param).span))
                }
            };
            bindings.extend(prepared.1.map(|binding| (*param, binding)));
            ready.push(prepared.0);
        }
        self.settle(params, ready, &extents, &mut copies, &mut bindings, (fresh, binding_mode));
        self.bindings.extend(bindings);
        self.clear_outs(params, args);
        copies.sort_by_key(|(at, _)| *at);
        copies.into_iter().map(|(_, copy)| copy).collect()
    }

    fn bind_in(
        &mut self,
        param: VarId,
        expr: &hir::Expr,
        by_place: bool,
        fresh: bool,
        binding_mode: BindingMode,
    ) -> (EvaluatedArgument, Option<Binding>) {
        if super::plain(self.var_type(param)) == &Type::InfInt
            || super::plain(self.var_type(param)) == &Type::String
        {
            let known = self.must_know(expr, "this argument");
            return (EvaluatedArgument::Done, known.map(Binding::Constant));
        }
        if by_place && self.is_plain_place(expr) {
            let lvalue = self.place(expr, true);
            if let Some(layout) = lvalue.as_ref().and_then(Lvalue::fixed) {
                return (EvaluatedArgument::In(layout.clone()), None);
            }
        }
        let value = self.value(expr);
        let layout = self.parameter(param, fresh, binding_mode);
        let value = value::retype(value, self.var_type(param), expr.span);
        self.store_fixed(&layout, value, expr.span);
        (EvaluatedArgument::Done, Some(Binding::Place(layout)))
    }

    /// Passes arguments by reference where they do not interfere, the others by copy.
    fn settle(
        &mut self,
        params: &[VarId],
        ready: Vec<EvaluatedArgument>,
        extents: &[(usize, Layout)],
        copies: &mut Vec<(usize, CopyOut)>,
        bindings: &mut Vec<(VarId, Binding)>,
        (fresh, binding_mode): (bool, BindingMode),
    ) {
        let inputs: Vec<Layout> = ready
            .iter()
            .filter_map(|ready| match ready {
                EvaluatedArgument::In(layout) => Some(layout.clone()),
                _ => None,
            })
            .collect();
        for (at, (ready, param)) in ready.into_iter().zip(params).enumerate() {
            let span = self.var(*param).span;
            match ready {
                EvaluatedArgument::Done | EvaluatedArgument::Copied => {}
                EvaluatedArgument::In(layout) => {
                    let mut place = layout.clone();
                    if extents.iter().any(|(_, out)| overlap(out, &layout)) {
                        place = self.parameter(*param, fresh, binding_mode);
                        let now = value::of_layout(&layout, span);
                        self.store_fixed(&place, now, span);
                    }
                    bindings.push((*param, Binding::Place(place)));
                }
                EvaluatedArgument::Out(to, layout, both) => {
                    let shared = extents.iter().any(|(o, out)| *o != at && overlap(out, &layout))
                        || inputs.iter().any(|input| overlap(input, &layout));
                    if !shared {
                        bindings.push((*param, Binding::Place(layout)));
                        continue;
                    }
                    let from = self.parameter(*param, fresh, binding_mode);
                    if both {
                        let now = value::of_layout(&layout, span);
                        self.store_fixed(&from, now, span);
                    }
                    bindings.push((*param, Binding::Place(from.clone())));
                    copies.push((at, CopyOut { to, from, span }));
                }
            }
        }
    }

    /// `out` parameters start with invalid headers and empty stacks.
    fn clear_outs(&mut self, params: &[VarId], args: &[hir::Arg]) {
        for (param, arg) in params.iter().zip(args) {
            if let (hir::Arg::Out(expr), Some(Binding::Place(layout))) =
                (arg, self.bindings.get(param).cloned())
            {
                self.invalidate(&layout, expr.span);
            }
        }
    }

    /// Slots for a parameter that is copied.
    fn parameter(&mut self, param: VarId, fresh: bool, binding_mode: BindingMode) -> Layout {
        if !fresh && let Some(layout) = self.unit.scopes[binding_mode.owner].vars.get(&param) {
            return layout.clone();
        }
        let layout = self.variable(param, binding_mode.owner);
        if !fresh {
            self.unit.scopes[binding_mode.owner].vars.insert(param, layout.clone());
        }
        layout
    }

    /// New slots for a variable, named after it and its instance.
    fn variable(&mut self, id: VarId, owner: usize) -> Layout {
        let var = self.var(id);
        let scope = &self.unit.scopes[owner];
        let name = match scope.name.rsplit('.').next() {
            Some(instance) if scope.depth > 0 => format!("{instance}.{}", var.name),
            _ => var.name.to_string(),
        };
        self.allocate(&var.ty, &name, LayoutUse { temporary: false, span: var.span })
    }

    /// The slots of a local variable: the same for each execution of its declaration.
    pub(super) fn local(&mut self, id: VarId) -> Layout {
        let owner = self.unit.current;
        let layout = match self.unit.scopes[owner].vars.get(&id) {
            Some(layout) => layout.clone(),
            None => {
                let layout = self.variable(id, owner);
                self.unit.scopes[owner].vars.insert(id, layout.clone());
                layout
            }
        };
        self.bindings.insert(id, Binding::Place(layout.clone()));
        layout
    }

    /// Inlines a function.
    pub(super) fn inline_function(&mut self, id: FunctionId, call: &hir::Call) -> Option<Value> {
        let function = &self.hir.functions[id.index()];
        if !self.may_inline(call.span) {
            let gives = function.returns != Type::Void;
            return gives.then(|| self.zero(&function.returns, call.span));
        }
        let binding_mode =
            BindingMode { by_place: true, may_renew: true, owner: self.unit.current };
        let copies = self.bind(&function.params, &call.args, binding_mode);
        let gives = function.returns != Type::Void;
        let result = gives.then(|| self.temporary(&function.returns, call.span));
        let label = self.label();
        self.unit.returns.push(ReturnTarget { label, result: result.clone() });
        let loops = std::mem::take(&mut self.unit.loops);
        let body = self.nested(|this| this.statements(&function.body));
        self.unit.loops = loops;
        self.unit.returns.pop();
        self.close_block(label, body, call.span);
        self.copy_out(copies);
        result.map(|layout| value::of_layout(&layout, call.span))
    }

    /// Inlines a directly called action; its action data are ordinary arguments.
    pub(super) fn inline_action(&mut self, id: ActionId, call: &hir::Call) {
        let action = &self.hir.actions[id.index()];
        if !self.may_inline(call.span) {
            return;
        }
        self.declare_called_action(action);
        let binding_mode =
            BindingMode { by_place: false, may_renew: true, owner: self.unit.current };
        let copies = self.bind(&action.params, &call.args, binding_mode);
        self.guarded(copies, call.span, |this| this.action_body(action, call.span));
    }

    /// The statements of an action whose parameters are bound.
    pub(super) fn action_body(&mut self, action: &hir::Action, span: Span) {
        let label = self.label();
        self.unit.returns.push(ReturnTarget { label, result: None });
        let loops = std::mem::take(&mut self.unit.loops);
        let outer = self.unit.in_action;
        self.unit.in_action = outer.or(Some(action.span));
        let body = self.nested(|this| this.statements(&action.body));
        self.unit.in_action = outer;
        self.unit.loops = loops;
        self.unit.returns.pop();
        self.close_block(label, body, span);
    }

    /// A body, followed by its copies out, even if it exits.
    pub(super) fn guarded(
        &mut self,
        copies: Vec<CopyOut>,
        span: Span,
        body: impl FnOnce(&mut Self),
    ) {
        if copies.is_empty() {
            return body(self);
        }
        let outer = self.unit.exit;
        let label = self.label();
        self.unit.exit = outer.map(|_| ExitTarget { label, flagged: true });
        let stmts = self.nested(body);
        self.unit.exit = outer;
        let exits = super::mentions(&stmts, label);
        self.close_block(label, stmts, span);
        self.copy_out(copies);
        if exits {
            self.go_on_exiting(span);
        }
    }

    /// Propagates an `exit` outwards if the flag is set.
    pub(super) fn go_on_exiting(&mut self, span: Span) {
        let Some(outer) = self.unit.exit else { return };
        let flag = self.exit_flag(span);
        let condition = Expr { kind: ExprKind::Slot(flag), scalar: Scalar::Bool, span };
        let then = self.nested(|this| this.push(StmtKind::Leave(outer.label), span));
        self.push(StmtKind::If { condition, then, otherwise: Vec::new() }, span);
    }

    /// `exit`
    pub(super) fn exit(&mut self, span: Span) {
        let Some(target) = self.unit.exit else { return };
        if self.unit.in_action.is_none() {
            self.out.declared.exits.push(span);
        }
        if target.flagged {
            let flag = self.exit_flag(span);
            self.push(StmtKind::Set(flag, value::truth(true, span)), span);
        }
        self.push(StmtKind::Leave(target.label), span);
    }

    fn exit_flag(&mut self, span: Span) -> Slot {
        if let Some(flag) = self.unit.exit_flag {
            return flag;
        }
        let purpose = LayoutUse { temporary: true, span };
        let flag = self.narrow_slot("$exit$", Scalar::Bool, purpose);
        self.unit.exit_flag = Some(flag);
        flag
    }

    /// Inlines a sub-control.
    pub(super) fn apply_block(&mut self, object: &Object, call: &hir::Call) {
        let Some(Binding::Block(scope)) = self.resolve(object, call.span) else { return };
        let Some(hir::InstanceOf::Control(id)) = self.unit.scopes[scope].of else {
            let message = "a sub-parser can only be applied by a statement of a parser state";
            self.error("E1306", call.span, message);
            return;
        };
        if !self.may_inline(call.span) {
            return;
        }
        let control = &self.hir.controls[id.index()];
        let by_place = self.applied_once(object);
        let binding_mode = BindingMode { by_place, may_renew: false, owner: scope };
        let copies = self.bind(&control.params, &call.args, binding_mode);
        self.guarded(copies, call.span, |this| {
            let caller = this.enter(scope);
            this.control_body(control, call.span);
            this.unit.current = caller;
        });
    }

    /// The statements of a control whose parameters are bound and whose scope is entered.
    pub(super) fn control_body(&mut self, control: &hir::Control, span: Span) {
        let label = self.label();
        self.unit.returns.push(ReturnTarget { label, result: None });
        let loops = std::mem::take(&mut self.unit.loops);
        let body = self.nested(|this| {
            this.statements(&control.init);
            this.statements(&control.body);
        });
        self.unit.loops = loops;
        self.unit.returns.pop();
        self.close_block(label, body, span);
        // The control plane has the tables that are not applied, too.
        for &table in &control.tables {
            self.table(table);
        }
    }

    /// True if this instance is applied in one place only: then its tables and methods, which exist
    /// once, can use the arguments' own slots.
    pub(super) fn applied_once(&self, object: &Object) -> bool {
        let Object::Instance(id) = object else { return false };
        let applies = |callee: &Callee| matches!(callee, Callee::Apply(Object::Instance(other)) if other == id);
        let count = match self.scope().of {
            Some(hir::InstanceOf::Control(of)) => {
                let control = &self.hir.controls[of.index()];
                let actions = control.actions.iter().map(|a| &self.hir.actions[a.index()].body);
                let bodies = actions.chain([&control.init, &control.body]);
                bodies.map(|body| count_calls(body, &applies)).sum()
            }
            Some(hir::InstanceOf::Parser(of)) => {
                let parser = &self.hir.parsers[of.index()];
                let states = parser.states.iter().map(|state| &state.body);
                states.map(|body| count_calls(body, &applies)).sum()
            }
            _ => 2,
        };
        count == 1
    }
}

/// Calls among the statements that are statements themselves and of the wanted kind.
fn count_calls(stmts: &[hir::Stmt], wanted: &dyn Fn(&Callee) -> bool) -> usize {
    use hir::StmtKind as S;
    let count = |body: &[hir::Stmt]| count_calls(body, wanted);
    let stmts = stmts.iter().map(|stmt| match &stmt.kind {
        S::Call(call) => usize::from(wanted(&call.callee)),
        S::If(_, a, b) => count(a) + count(b),
        S::Block(body) | S::ForRange { body, .. } => count(body),
        // Unrolled for each element.
        S::ForEach { body, .. } => 2 * count(body),
        S::For { update, body, .. } => count(update) + count(body),
        S::SwitchAction { cases, default, .. } => {
            cases.iter().map(|(_, body)| count(body)).sum::<usize>() + count(default)
        }
        S::SwitchValue { cases, default, .. } => {
            cases.iter().map(|(_, body)| count(body)).sum::<usize>() + count(default)
        }
        _ => 0,
    });
    stmts.sum()
}
