//! Functions, and one instantiation of each generic function per set of type arguments
//! (specification 10).
//!
//! A generic body is checked once with opaque types as its type parameters; each instantiation is
//! then checked again with the real types.

use super::Checker;
use super::code_context::{CodeContext, ContextKind};
use super::messages::code;
use super::scope::{Entity, FunctionRef, TypeEntity};
use super::signature::{ParamsOf, Signature};
use crate::ast::{Block, Prototype};
use crate::hir::{Function, FunctionId, VarKind};
use crate::source::Span;
use crate::types::Type;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Maximum number of parts of a generic function's type arguments: each instantiation walks them
/// repeatedly.
const MAX_ARGUMENT_PARTS: u64 = 1 << 12;

/// A declared function.
pub(super) struct FunctionInfo<'a> {
    pub signature: Rc<Signature>,
    prototype: &'a Prototype,
    body: &'a Block,
    /// Instantiations by type arguments; one without any for a function that is not generic.
    copies: RefCell<HashMap<Vec<Type>, FunctionId>>,
}

impl<'a> Checker<'a> {
    /// `R name<T>(params) { ... }`
    pub(super) fn declare_function(&mut self, prototype: &'a Prototype, body: &'a Block) {
        let signature = Rc::new(self.prototype(prototype, ParamsOf::Function));
        let index = self.functions.len();
        let info = FunctionInfo { signature, prototype, body, copies: RefCell::default() };
        let info = Rc::new(info);
        self.functions.push(info.clone());
        // Its own name is unknown in its body unless it is overloaded.
        self.unfinished(&prototype.name, "a function");
        let vars: Vec<Type> = info.signature.type_params.iter().cloned().map(Type::Var).collect();
        let function = self.function_body(&info, &vars);
        if vars.is_empty() {
            let id = FunctionId(self.program.functions.len() as u32);
            self.program.functions.push(function);
            info.copies.borrow_mut().insert(Vec::new(), id);
        }
        if let Some(found) = self.scopes.here(&prototype.name.text)
            && matches!(found.entity, Entity::Unfinished(_))
        {
            self.scopes.forget(&prototype.name.text);
        }
        self.declare_overload(&prototype.name, FunctionRef::Defined(index));
    }

    /// The instantiation of a function for these type arguments, created on first use.
    pub(super) fn function_copy(
        &mut self,
        index: usize,
        type_args: &[Type],
        span: Span,
    ) -> Option<FunctionId> {
        let info = self.functions[index].clone();
        if let Some(id) = info.copies.borrow().get(type_args) {
            return Some(*id);
        }
        if type_args.iter().any(super::infer::has_vars) {
            // Inside an uninstantiated generic body, which is never executed.
            return Some(FunctionId(0));
        }
        if self.program.functions.len() >= super::MAX_COPIES {
            let message = "too many copies of generic functions are needed";
            self.error(code::TOO_LARGE, span, message);
            return None;
        }
        if self.too_large(type_args, MAX_ARGUMENT_PARTS, "what this function is called with", span)
        {
            return None;
        }
        if !self.enter(span) {
            return None;
        }
        let hidden = self.scopes.hide();
        let block = std::mem::take(&mut self.block);
        let function = self.function_body(&info, type_args);
        self.block = block;
        self.scopes.unhide(hidden);
        self.leave();
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        info.copies.borrow_mut().insert(type_args.to_vec(), id);
        Some(id)
    }

    fn function_body(&mut self, info: &FunctionInfo<'a>, type_args: &[Type]) -> Function {
        self.scopes.push();
        for (name, ty) in info.prototype.type_params.iter().zip(type_args) {
            let entity = Entity::Type(TypeEntity::Plain(ty.clone()));
            self.scopes.set(name.text.clone(), entity, name.span);
        }
        let generic = !type_args.is_empty();
        let resolve = |checker: &mut Self| {
            let returns = info.prototype.returns.as_ref();
            let returns = returns.map_or(Type::Void, |ty| checker.resolve_type(ty));
            (returns, checker.params(&info.prototype.params, ParamsOf::Function))
        };
        let (returns, params) = if generic {
            self.silently(resolve).0
        } else {
            (info.signature.returns.clone(), info.signature.params.clone())
        };
        let vars = self.declare_params(&params, VarKind::Parameter);
        let place =
            CodeContext { returns: returns.clone(), ..CodeContext::new(ContextKind::Function) };
        let name = &info.prototype.name;
        let body = self.at(place, |checker| checker.body(info.body, &returns, name.span));
        self.scopes.pop();
        Function { name: name.text.clone(), params: vars, returns, body, span: name.span }
    }
}
