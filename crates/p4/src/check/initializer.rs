//! `T(args) name = { ... };`: functions that implement the abstract methods of an extern, and
//! instances visible to them only (specification 10.3.1).

use super::Checker;
use super::block::BlockKind;
use super::code_context::{CodeContext, ContextKind};
use super::infer::{Substitution, substitute, substitution};
use super::messages::code;
use super::signature::{ParamsOf, Signature};
use crate::ast::{Declaration, DeclarationKind, Direction, Name, Prototype};
use crate::diagnostic::Diagnostic;
use crate::hir::{Function, InstanceOf, MethodBody, VarKind};
use crate::source::Span;
use crate::types::{ExternId, Type};

impl Checker<'_> {
    /// Checks an initializer against the extern's abstract methods; without one, checks that there
    /// are none.
    pub(super) fn initializer(
        &mut self,
        of: &InstanceOf,
        ty: &Type,
        body: Option<&[Declaration]>,
        name: &Name,
    ) -> Vec<MethodBody> {
        let (InstanceOf::Extern { id, .. }, Type::Extern(_, args)) = (of, ty) else {
            if body.is_some() {
                let message = format!("`{}` is no extern: it has no methods", name.text);
                self.error(code::ABSTRACT_METHOD, name.span, message);
            }
            return Vec::new();
        };
        let args = args.to_vec();
        let mut made = Vec::new();
        self.scopes.push();
        for declaration in body.unwrap_or_default() {
            match &declaration.kind {
                DeclarationKind::Function { prototype, body } => {
                    made.push(self.method_body((*id, &args), prototype, body));
                }
                DeclarationKind::Instantiation { ty, args, name, body } => {
                    let annotations = &declaration.annotations;
                    self.instantiation(ty, args, name, body.as_deref(), annotations);
                }
                DeclarationKind::Constant { ty, name, value } => {
                    self.declare_constant(ty, name, value);
                }
                _ => {
                    let message = "an initializer holds functions and instances";
                    self.error(code::ABSTRACT_METHOD, declaration.span, message);
                }
            }
        }
        self.scopes.pop();
        self.check_all_implemented(*id, &made, name);
        made
    }

    /// Checks that an extern created by a constructor call has no abstract methods.
    pub(super) fn check_nothing_abstract(&mut self, id: ExternId, span: Span) {
        let info = self.externs[id.index()].clone();
        if info.is_abstract.iter().any(|is_abstract| *is_abstract) {
            let message =
                format!("`{}` has abstract methods, which need an initializer", info.name);
            let diagnostic = Diagnostic::error(code::ABSTRACT_METHOD, span, message)
                .with_help("declare the instance with a name: `T(...) name = { ... };`");
            self.report(diagnostic);
        }
    }

    fn check_all_implemented(&mut self, id: ExternId, made: &[MethodBody], name: &Name) {
        let info = self.externs[id.index()].clone();
        for (at, method) in info.methods.iter().enumerate() {
            let done = made.iter().any(|body| body.implements == Some(at as u32));
            let optional = self.program.externs[id.index()]
                .methods
                .get(at)
                .is_some_and(|method| crate::ast::has_annotation(&method.annotations, "optional"));
            if info.is_abstract[at] && !done && !optional {
                let message =
                    format!("`{}` does not implement the method `{}`", name.text, method.name);
                let diagnostic = Diagnostic::error(code::ABSTRACT_METHOD, name.span, message)
                    .with_place(method.span, "declared abstract here");
                self.report(diagnostic);
            }
        }
    }

    fn method_body(
        &mut self,
        (id, args): (ExternId, &[Type]),
        prototype: &Prototype,
        body: &crate::ast::Block,
    ) -> MethodBody {
        let mut signature = self.prototype(prototype, ParamsOf::Extern);
        let info = self.externs[id.index()].clone();
        let named = |at: &usize| info.methods[*at].name == signature.name;
        let implements = (0..info.methods.len()).find(named);
        match implements {
            Some(at) if info.is_abstract[at] => {
                let by = substitution(&info.type_params, args);
                self.check_implementation(&signature, &info.methods[at], &by);
            }
            Some(at) => {
                let message = format!("the method `{}` is not abstract", signature.name);
                let diagnostic = Diagnostic::error(code::ABSTRACT_METHOD, signature.span, message)
                    .with_place(info.methods[at].span, "declared here");
                self.report(diagnostic);
            }
            None => {
                let known = info.methods.iter().zip(&info.is_abstract).filter(|(_, a)| **a);
                let known: Vec<&str> = known.map(|(method, _)| &*method.name).collect();
                let message =
                    format!("`{}` has no abstract method `{}`", info.name, signature.name);
                let diagnostic = Diagnostic::error(code::ABSTRACT_METHOD, signature.span, message)
                    .with_place(info.span, "declared here");
                self.report(diagnostic.with_near_name(&signature.name, known));
            }
        }
        signature.returns = self.resolved(&signature.returns);
        let returns = signature.returns.clone();
        let this = Some((id, args.to_vec()));
        let place =
            CodeContext { kind: ContextKind::Method, returns: returns.clone(), loops: 0, this };
        self.scopes.push();
        let params = self.declare_params(&signature.params, VarKind::Parameter);
        let block = self.block.kind;
        let statements =
            self.at(place, |checker| checker.body(body, &returns, prototype.name.span));
        debug_assert!(block == self.block.kind || block == BlockKind::None);
        self.scopes.pop();
        MethodBody {
            implements: implements.map(|at| at as u32),
            function: Function {
                name: signature.name.clone(),
                params,
                returns,
                body: statements,
                span: signature.span,
            },
        }
    }

    /// Checks that an implementation has the declared parameters and result.
    fn check_implementation(&mut self, given: &Signature, declared: &Signature, by: &Substitution) {
        let wrong = |checker: &mut Self, at: Span, message: String| {
            let diagnostic = Diagnostic::error(code::ABSTRACT_METHOD, at, message)
                .with_place(declared.span, "declared here");
            checker.report(diagnostic);
        };
        let missing = declared.params.get(given.params.len()..);
        if missing.is_none_or(|missing| missing.iter().any(|param| !param.optional)) {
            let (wanted, found) = (declared.params.len(), given.params.len());
            let message = format!("`{}` has {wanted} parameters, found {found}", given.name);
            return wrong(self, given.span, message);
        }
        let mut by = by.clone();
        let vars = given.type_params.iter().cloned().map(Type::Var).collect::<Vec<_>>();
        by.extend(substitution(&declared.type_params, &vars));
        let wanted = substitute(&declared.returns, &by);
        if !self.same(&wanted, &given.returns) {
            let (wanted, found) = (self.show(&wanted), self.show(&given.returns));
            let message = format!("`{}` returns `{wanted}`, found `{found}`", given.name);
            wrong(self, given.span, message);
        }
        for (param, declared) in given.params.iter().zip(&declared.params) {
            let wanted = substitute(&declared.ty, &by);
            if !self.same(&wanted, &param.ty) {
                let (wanted, found) = (self.show(&wanted), self.show(&param.ty));
                let message =
                    format!("the parameter `{}` has type `{wanted}`, found `{found}`", param.name);
                wrong(self, param.span, message);
            }
            if param.direction != declared.direction {
                let (wanted, found) = (words(declared.direction), words(param.direction));
                let message = format!("the parameter `{}` is {wanted}, found {found}", param.name);
                wrong(self, param.span, message);
            }
        }
    }

    /// True if the types are equal, or one of them is unspecified.
    fn same(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.resolved(a), self.resolved(b));
        a == b || a == Type::Unknown || b == Type::Unknown
    }
}

fn words(direction: Direction) -> &'static str {
    match direction {
        Direction::None => "without direction",
        Direction::In => "`in`",
        Direction::Out => "`out`",
        Direction::InOut => "`inout`",
    }
}
