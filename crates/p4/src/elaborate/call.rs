//! Calls: dispatch by kind, and calls of external functions and objects.

use super::constant::Constant;
use super::effects::arg_has_effects;
use super::layout::reads;
use super::lvalue::Lvalue;
use super::{Binding, Elaborator, value};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Callee};
use crate::ir::{Arg, CallSite, ExternCall, Layout, ObjectId, StmtKind, Value};
use crate::source::Span;
use crate::types::Type;
use std::sync::Arc;

/// External callee.
pub(super) struct ExternalCallee {
    pub object: Option<ObjectId>,
    pub name: Arc<str>,
    pub method: u32,
}

/// A destination that is written when a call returns.
pub(super) struct CopyOut {
    pub to: Lvalue,
    pub from: Layout,
    pub span: Span,
}

impl Elaborator<'_> {
    /// A call whose value is used, stored in `into` if that is given.
    pub(super) fn call(&mut self, call: &hir::Call, into: Option<&Layout>) -> Option<Value> {
        self.any_call(call, true, into)
    }

    /// A call whose value is unused.
    pub(super) fn call_statement(&mut self, call: &hir::Call) {
        self.any_call(call, false, None);
    }

    fn any_call(&mut self, call: &hir::Call, used: bool, into: Option<&Layout>) -> Option<Value> {
        let hir = self.hir;
        match &call.callee {
            Callee::Function(id) => self.inline_function(*id, call),
            Callee::Action(id) => {
                self.inline_action(*id, call);
                None
            }
            Callee::Apply(object) => {
                self.apply_block(object, call);
                None
            }
            Callee::ExternFunction(id) => {
                let function = &hir.extern_functions[id.index()];
                match &*function.name {
                    "verify" => self.verify(call),
                    "static_assert" => Some(self.static_assert(call)),
                    _ => {
                        let name = function.name.clone();
                        self.outside(
                            ExternalCallee { object: None, name, method: 0 },
                            call,
                            used,
                            into,
                        )
                    }
                }
            }
            Callee::Method { object, of, method } => {
                let name = hir.externs[of.index()].methods[*method as usize].name.clone();
                match self.resolve(object, call.span)? {
                    Binding::Packet => self.packet_call(&name, call),
                    Binding::Object(object) => {
                        let callee = ExternalCallee { object: Some(object), name, method: *method };
                        self.outside(callee, call, used, into)
                    }
                    _ => None,
                }
            }
        }
    }

    /// `static_assert(condition, message)` (specification chapter 19).
    fn static_assert(&mut self, call: &hir::Call) -> Value {
        let known = match call.args.first() {
            Some(hir::Arg::In(condition)) => self.must_know(condition, "a static assertion"),
            _ => None,
        };
        if known == Some(Constant::Bool(false)) {
            let text = match call.args.get(1) {
                Some(hir::Arg::In(text)) => self.known(text),
                _ => None,
            };
            let mut diagnostic =
                Diagnostic::error("E1310", call.span, "a static assertion does not hold");
            if let Some(Constant::String(text)) = text {
                diagnostic = diagnostic.with_note(text.to_string());
            }
            self.report(diagnostic);
        }
        Value::Scalar(value::truth(true, call.span))
    }

    /// A call of an extern method or function.
    fn outside(
        &mut self,
        callee: ExternalCallee,
        call: &hir::Call,
        used: bool,
        into: Option<&Layout>,
    ) -> Option<Value> {
        let (mut args, copies) = self.outside_args(&call.args);
        self.keep_inputs(&mut args);
        let gives = used && call.returns != Type::Void;
        let into = into.filter(|into| !written(&args).any(|out| overlap(out, into)));
        let result = gives.then(|| match into {
            Some(layout) => layout.clone(),
            None => self.temporary(&call.returns, call.span),
        });
        let site = CallSite(self.out.call_sites);
        self.out.call_sites += 1;
        let call_stmt = ExternCall {
            site,
            object: callee.object,
            name: callee.name,
            method: callee.method,
            type_args: call.type_args.clone(),
            args,
            result: result.clone(),
            returns: call.returns.clone(),
            span: call.span,
        };
        self.push(StmtKind::Call(call_stmt), call.span);
        self.copy_out(copies);
        result.map(|layout| value::of_layout(&layout, call.span))
    }

    fn outside_args(&mut self, args: &[hir::Arg]) -> (Vec<Arg>, Vec<CopyOut>) {
        let mut done: Vec<Arg> = Vec::with_capacity(args.len());
        let mut copies = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let later = args[at + 1..].iter().any(arg_has_effects);
            let lowered = match arg {
                hir::Arg::In(expr) => {
                    let value = self.value(expr);
                    Arg::In(if later { self.save(value) } else { value })
                }
                hir::Arg::Out(expr) | hir::Arg::InOut(expr) => {
                    let both = matches!(arg, hir::Arg::InOut(_));
                    self.outside_place(expr, both, later, &done, &mut copies)
                }
                hir::Arg::DontCare | hir::Arg::Absent => Arg::Absent,
                hir::Arg::Object(object) => match self.resolve(object, Span::DUMMY) {
                    Some(Binding::Object(id)) => Arg::Object(id),
                    Some(Binding::Packet) => Arg::Packet,
                    _ => Arg::Absent,
                },
            };
            done.push(lowered);
        }
        (done, copies)
    }

    /// The slots that an extern writes: the argument's own if the result is the same.
    fn outside_place(
        &mut self,
        expr: &hir::Expr,
        both: bool,
        later: bool,
        before: &[Arg],
        copies: &mut Vec<CopyOut>,
    ) -> Arg {
        let Some(lvalue) = self.place(expr, true) else { return Arg::Absent };
        let free = lvalue
            .fixed()
            .filter(|layout| !later && !written(before).any(|other| overlap(other, layout)));
        let layout = match free {
            Some(layout) => layout.clone(),
            None => {
                let layout = self.temporary(&expr.ty, expr.span);
                if both {
                    let now = self.load(&lvalue.place, expr.span);
                    self.store_fixed(&layout, now, expr.span);
                } else {
                    self.invalidate(&layout, expr.span);
                }
                copies.push(CopyOut { to: lvalue, from: layout.clone(), span: expr.span });
                layout
            }
        };
        if both { Arg::InOut(layout) } else { Arg::Out(layout) }
    }

    /// Saves inputs that would change while results are written.
    fn keep_inputs(&mut self, args: &mut [Arg]) {
        let outs: Vec<Layout> = written(args).cloned().collect();
        for arg in args {
            if let Arg::In(value) = arg
                && outs.iter().any(|out| reads(value, out))
            {
                let taken = std::mem::replace(value, Value::String("".into()));
                *value = self.save(taken);
            }
        }
    }

    /// Copies results to their destinations, from left to right.
    pub(super) fn copy_out(&mut self, copies: Vec<CopyOut>) {
        for CopyOut { to, from, span } in copies {
            let value = value::of_layout(&from, span);
            self.store(&to, value, span);
        }
    }
}

fn written(args: &[Arg]) -> impl Iterator<Item = &Layout> {
    args.iter().filter_map(|arg| match arg {
        Arg::Out(layout) | Arg::InOut(layout) => Some(layout),
        _ => None,
    })
}

pub(super) fn overlap(a: &Layout, b: &Layout) -> bool {
    a.range().overlaps(&b.range())
}
