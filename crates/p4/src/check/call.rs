//! Calls: callee resolution and the result (specification 8.20, 13.6, 14.2, 15).
//!
//! A callee is a name (function, action, constructor) or a member (method, `apply`). Built-in
//! methods of headers and stacks are in `builtin`, constructors in `instance`.

use super::Checker;
use super::arguments::{BoundCall, CallKind};
use super::code_context::{Called, ContextKind};
use super::infer::{Substitution, substitution};
use super::messages::code;
use super::operand::{Operand, boolean, typed};
use super::scope::{Entity, FunctionRef, TypeEntity};
use super::signature::{Param, Signature};
use crate::ast::{self, Argument, Name, TypeRef};
use crate::diagnostic::{Diagnostic, near_name};
use crate::hir::{ActionId, Arg, Call, Callee, Expr, ExprKind, Object, StmtKind, TableId, Value};
use crate::source::Span;
use crate::types::{BlockType, ExternId, Type};
use std::rc::Rc;
use std::sync::Arc;

/// Result of a checked call.
pub(super) enum CallResult {
    /// An expression; its type is `void` if the call has no result.
    Value(Expr),
    /// A constructor call.
    Object(Object, Type),
    /// `t.apply()`
    TableResult(TableId),
    /// A call that is only valid as a statement.
    Statement(StmtKind),
    /// An error that is already reported.
    Broken,
}

/// The call as an expression.
fn called(callee: Callee, bound: BoundCall, span: Span) -> CallResult {
    let BoundCall { type_args, args, returns } = bound;
    let call = Call { callee, type_args, args, returns: returns.clone(), span };
    CallResult::Value(typed(ExprKind::Call(Box::new(call)), returns, span))
}

impl Checker<'_> {
    /// `callee<type_args>(args)`
    pub(super) fn call(
        &mut self,
        callee: &ast::Expr,
        type_args: &[TypeRef],
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        if let ast::ExprKind::Paren(inner) = &callee.kind {
            return self.call(inner, type_args, args, span);
        }
        if let ast::ExprKind::Member(base, method) = &callee.kind {
            return self.member_call(base, method, type_args, args, span);
        }
        match self.callee(callee) {
            Operand::Broken => {
                self.check_lost_arguments(args);
                CallResult::Broken
            }
            Operand::Functions(functions) => self.function_call(&functions, type_args, args, span),
            Operand::Action(id) => self.action_call(id, type_args, args, span),
            Operand::Type(entity) => self.constructor_call(&entity, type_args, args, span),
            Operand::Applied(ty) => self.applied_constructor_call(&ty, args, span),
            _ => {
                let written = self.sources.text(callee.span).to_string();
                let message = format!("`{written}` cannot be called");
                let diagnostic = Diagnostic::error(code::NOT_CALLABLE, callee.span, message);
                let help = "functions, actions, methods and constructors can be called";
                self.report(diagnostic.with_help(help));
                CallResult::Broken
            }
        }
    }

    /// A callee; for an unknown name the nearest callable name is suggested.
    fn callee(&mut self, callee: &ast::Expr) -> Operand {
        if let ast::ExprKind::Name { name, global } = &callee.kind
            && self.scopes.find(&name.text, *global).is_none()
        {
            self.unknown_name(name, "function", |entity| {
                matches!(entity, Entity::Functions(_) | Entity::Action(_) | Entity::Type(_))
            });
            return Operand::Broken;
        }
        self.operand(callee, None)
    }

    /// Checks the arguments of a call with an unknown callee, for errors of their own.
    fn check_lost_arguments(&mut self, args: &[Argument]) {
        for arg in args {
            if let Some(value) = &arg.value
                && !matches!(
                    value.kind,
                    ast::ExprKind::List(_) | ast::ExprKind::KeyValueList { .. }
                )
            {
                self.operand(value, Some(&Type::Unknown));
            }
        }
    }

    fn function_call(
        &mut self,
        functions: &Rc<[FunctionRef]>,
        type_args: &[TypeRef],
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        let signatures: Vec<Rc<Signature>> =
            functions.iter().map(|function| self.function_signature(*function)).collect();
        let candidates: Vec<&Signature> = signatures.iter().map(|s| &**s).collect();
        let Some((at, slots)) = self.choose(&candidates, args, span) else {
            return CallResult::Broken;
        };
        let signature = signatures[at].clone();
        let Some(type_args) = self.type_arguments(&signature, type_args, span) else {
            return CallResult::Broken;
        };
        let outer = Substitution::new();
        let kind = match functions[at] {
            FunctionRef::Extern(_) if &*signature.name != "static_assert" => CallKind::Extern,
            _ => CallKind::Ordinary,
        };
        let bound = self.bound_call(&signature, &slots, type_args, &outer, kind, span);
        let Some(bound) = bound else { return CallResult::Broken };
        match functions[at] {
            FunctionRef::Defined(index) => {
                self.check_call_place(Called::Function, span);
                match self.function_copy(index, &bound.type_args, span) {
                    Some(id) => called(Callee::Function(id), bound, span),
                    None => CallResult::Broken,
                }
            }
            FunctionRef::Extern(id) => {
                if &*signature.name == "static_assert" {
                    return self.static_assert(bound, span);
                }
                self.check_call_place(Called::Extern, span);
                if &*signature.name == "verify" && signature.params.len() == 2 {
                    self.check_verify_place(span);
                }
                called(Callee::ExternFunction(id), bound, span)
            }
        }
    }

    /// Checks that `verify`, which ends a parser, is in one (specification 13.7).
    fn check_verify_place(&mut self, span: Span) {
        let elsewhere = matches!(
            self.place.kind,
            ContextKind::ControlApply | ContextKind::ControlLocals | ContextKind::Action
        );
        if elsewhere {
            self.error(code::WRONG_PLACE, span, "`verify` can be called only in parsers");
        }
    }

    /// Evaluates a static assertion (specification 19).
    fn static_assert(&mut self, bound: BoundCall, span: Span) -> CallResult {
        let known = |arg: Option<&Arg>| match arg {
            Some(Arg::In(Expr { kind: ExprKind::Const(value), .. })) => Some(value.clone()),
            _ => None,
        };
        match known(bound.args.first()) {
            Some(Value::Bool(false)) => {
                let message = match known(bound.args.get(1)) {
                    Some(Value::String(message)) => message.to_string(),
                    _ => "the assertion does not hold".to_string(),
                };
                let diagnostic = Diagnostic::error(code::ASSERTION, span, message);
                self.report(diagnostic.with_label("static assertion failed"));
                CallResult::Broken
            }
            Some(_) => CallResult::Value(boolean(true, span)),
            None => {
                let message = "a static assertion must be known where it stands";
                self.error(code::NOT_CONSTANT, span, message);
                CallResult::Broken
            }
        }
    }

    fn action_call(
        &mut self,
        id: ActionId,
        type_args: &[TypeRef],
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        self.check_call_place(Called::Action, span);
        let signature = self.actions[id.index()].clone();
        let Some((_, slots)) = self.choose(&[&signature], args, span) else {
            return CallResult::Broken;
        };
        let Some(type_args) = self.type_arguments(&signature, type_args, span) else {
            return CallResult::Broken;
        };
        let outer = Substitution::new();
        let kind = CallKind::Action;
        match self.bound_call(&signature, &slots, type_args, &outer, kind, span) {
            Some(bound) => called(Callee::Action(id), bound, span),
            None => CallResult::Broken,
        }
    }

    /// `base.method(args)`
    fn member_call(
        &mut self,
        base: &ast::Expr,
        method: &Name,
        type_args: &[TypeRef],
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        match self.operand(base, None) {
            Operand::Broken => {
                self.check_lost_arguments(args);
                CallResult::Broken
            }
            Operand::Value(value) => self.builtin_method(value, method, args, span),
            Operand::Type(entity) => self.type_call(&entity, method, args, base.span, span),
            Operand::Applied(ty) => self.size_of_type(&ty, method, args, span),
            Operand::Table(table) => self.table_apply(table, method, args, span),
            Operand::Object(object, ty) => match &ty {
                Type::Extern(id, class_args) => {
                    let id = *id;
                    let class_args = class_args.to_vec();
                    self.method_call(object, (id, &class_args), method, type_args, args, span)
                }
                Type::Parser(block) | Type::Control(block) if &*method.text == "apply" => {
                    let is_parser = matches!(ty, Type::Parser(_));
                    let block = block.clone();
                    self.apply_block(object, &block, is_parser, args, span)
                }
                ty => {
                    let shown = self.show(ty);
                    self.no_method(&format!("an instance of `{shown}`"), method, &["apply"]);
                    CallResult::Broken
                }
            },
            _ => {
                self.no_method("this", method, &[]);
                CallResult::Broken
            }
        }
    }

    /// Reports that a type has no method of this name.
    pub(super) fn no_method(&mut self, what: &str, method: &Name, known: &[&str]) {
        let message = format!("{what} has no method `{}`", method.text);
        let near = near_name(&method.text, known.iter().copied()).map(str::to_string);
        let mut diagnostic = Diagnostic::error(code::NO_SUCH_MEMBER, method.span, message);
        if let Some(near) = near {
            let text = format!("did you mean `{near}`?");
            diagnostic = diagnostic.with_suggestion(method.span, near, text);
        }
        self.report(diagnostic);
    }

    fn method_call(
        &mut self,
        object: Object,
        (id, class_args): (ExternId, &[Type]),
        method: &Name,
        type_args: &[TypeRef],
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        let info = self.externs[id.index()].clone();
        let named = |at: &usize| info.methods[*at].name == method.text;
        let found: Vec<usize> = (0..info.methods.len()).filter(named).collect();
        if found.is_empty() {
            let known: Vec<&str> = info.methods.iter().map(|method| &*method.name).collect();
            self.no_method(&format!("the extern `{}`", info.name), method, &known);
            self.check_lost_arguments(args);
            return CallResult::Broken;
        }
        let candidates: Vec<&Signature> = found.iter().map(|at| &*info.methods[*at]).collect();
        let Some((chosen, slots)) = self.choose(&candidates, args, span) else {
            return CallResult::Broken;
        };
        let signature = info.methods[found[chosen]].clone();
        let outer = self.class_substitution(&info.type_params, class_args);
        let Some(type_args) = self.type_arguments(&signature, type_args, span) else {
            return CallResult::Broken;
        };
        self.check_call_place(Called::Extern, span);
        let kind = CallKind::Extern;
        let bound = self.bound_call(&signature, &slots, type_args, &outer, kind, span);
        let Some(mut bound) = bound else { return CallResult::Broken };
        self.close(&bound.returns);
        bound.returns = self.resolved(&bound.returns);
        self.check_core_method(&info.name, &method.text, &bound, span);
        let method = found[chosen] as u32;
        called(Callee::Method { object, of: id, method }, bound, span)
    }

    /// Type arguments of an extern; an uninferred one is a new variable in each call.
    fn class_substitution(
        &mut self,
        params: &[crate::types::TypeVar],
        args: &[Type],
    ) -> Substitution {
        let args: Vec<Type> = params
            .iter()
            .zip(args)
            .map(|(param, arg)| match arg {
                Type::Unknown => self.fresh(&param.name),
                arg => arg.clone(),
            })
            .collect();
        substitution(params, &args)
    }

    /// `instance.apply(args)` of a parser or control.
    pub(super) fn apply_block(
        &mut self,
        object: Object,
        block: &Arc<BlockType>,
        is_parser: bool,
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        let what = if is_parser { Called::Parser } else { Called::Control };
        self.check_call_place(what, span);
        let signature = self.apply_signature(block);
        let Some((_, slots)) = self.choose(&[&signature], args, span) else {
            return CallResult::Broken;
        };
        let outer = Substitution::new();
        let kind = CallKind::Ordinary;
        match self.bound_call(&signature, &slots, Vec::new(), &outer, kind, span) {
            Some(bound) => called(Callee::Apply(object), bound, span),
            None => CallResult::Broken,
        }
    }

    /// Parameters of a parser's or control's `apply`.
    fn apply_signature(&self, block: &BlockType) -> Rc<Signature> {
        let declared = self.parsers.iter().chain(&self.controls);
        for info in declared {
            if *info.ty == *block {
                return info.apply.clone();
            }
        }
        let optional = self.optional_params.get(&block.declaration);
        let params = block.params.iter().enumerate().map(|(at, (name, direction, ty))| Param {
            name: name.clone(),
            direction: *direction,
            ty: ty.clone(),
            optional: optional.is_some_and(|optional| optional.get(at) == Some(&true)),
            default: None,
            annotations: Arc::from([]),
            span: Span::DUMMY,
        });
        Rc::new(Signature {
            name: block.name.clone(),
            type_params: Vec::new(),
            params: params.collect(),
            returns: Type::Void,
            span: Span::DUMMY,
        })
    }

    fn table_apply(
        &mut self,
        table: TableId,
        method: &Name,
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        if &*method.text != "apply" {
            self.no_method("a table", method, &["apply"]);
            return CallResult::Broken;
        }
        if let Some(arg) = args.first() {
            self.error(code::ARGUMENTS, arg.span, "applying a table takes no arguments");
        }
        if !self.check_call_place(Called::Table, span) {
            return CallResult::Broken;
        }
        CallResult::TableResult(table)
    }

    /// `Type.apply(args)` (specification 15.2), or the size of a type.
    pub(super) fn type_call(
        &mut self,
        entity: &TypeEntity,
        method: &Name,
        args: &[Argument],
        at: Span,
        span: Span,
    ) -> CallResult {
        if let TypeEntity::Plain(ty) = entity {
            return self.size_of_type(ty, method, args, span);
        }
        let is_block = matches!(entity, TypeEntity::Parser(_) | TypeEntity::Control(_));
        if !is_block || &*method.text != "apply" {
            let known: &[&str] = if is_block { &["apply"] } else { &[] };
            self.no_method("this type", method, known);
            return CallResult::Broken;
        }
        match self.direct_instance(entity, at) {
            Some((object, Type::Parser(block))) => {
                self.apply_block(object, &block, true, args, span)
            }
            Some((object, Type::Control(block))) => {
                self.apply_block(object, &block, false, args, span)
            }
            _ => CallResult::Broken,
        }
    }
}
