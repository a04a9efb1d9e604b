//! Parameter lists of callable entities, and the rules for parameters (specification 6.8 and
//! appendix F).

use super::Checker;
use super::messages::code;
use super::nesting::is_storable;
use super::scope::{Entity, TypeEntity};
use super::type_ref::DontCare;
use crate::ast::{self, Annotation, Direction, has_annotation};
use crate::diagnostic::Diagnostic;
use crate::hir;
use crate::source::Span;
use crate::types::{Type, TypeVar};
use std::sync::Arc;

/// Parameters and result of a callable entity.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub name: Arc<str>,
    pub type_params: Vec<TypeVar>,
    pub params: Vec<Param>,
    pub returns: Type,
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub name: Arc<str>,
    pub direction: Direction,
    pub ty: Type,
    /// `@optional`
    pub optional: bool,
    /// Its default value.
    pub default: Option<hir::Arg>,
    pub annotations: Arc<[Annotation]>,
    pub span: Span,
}

/// Owner of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParamsOf {
    Parser,
    Control,
    ParserType,
    ControlType,
    Package,
    ParserConstructor,
    ControlConstructor,
    ExternConstructor,
    Extern,
    Action,
    Function,
}

impl ParamsOf {
    fn is_constructor(self) -> bool {
        matches!(
            self,
            ParamsOf::Package
                | ParamsOf::ParserConstructor
                | ParamsOf::ControlConstructor
                | ParamsOf::ExternConstructor
        )
    }

    fn words(self) -> &'static str {
        match self {
            ParamsOf::Parser | ParamsOf::ParserType => "a parser",
            ParamsOf::Control | ParamsOf::ControlType => "a control",
            ParamsOf::Package => "a package",
            ParamsOf::ParserConstructor => "a parser's constructor",
            ParamsOf::ControlConstructor => "a control's constructor",
            ParamsOf::ExternConstructor => "an extern's constructor",
            ParamsOf::Extern => "an extern",
            ParamsOf::Action => "an action",
            ParamsOf::Function => "a function",
        }
    }

    /// Appendix F: types allowed for the parameters of each kind of owner.
    fn may_take(self, ty: &Type, direction: Direction) -> bool {
        let known = direction == Direction::None && self != ParamsOf::Action;
        match ty {
            Type::Package(..) => self == ParamsOf::Package,
            Type::Parser(_) => matches!(self, ParamsOf::Package | ParamsOf::ParserConstructor),
            Type::Control(_) => matches!(self, ParamsOf::Package | ParamsOf::ControlConstructor),
            Type::Extern(..) => {
                direction == Direction::None
                    && !matches!(self, ParamsOf::Action | ParamsOf::Function)
            }
            Type::InfInt | Type::String | Type::MatchKind | Type::List(_) => known,
            Type::Tuple(_) if !is_storable(ty) => known,
            Type::Void | Type::Set(_) | Type::TableResult(_) => false,
            other => is_storable(other),
        }
    }
}

impl Checker<'_> {
    /// Declares type parameters in a new scope, which the caller must pop.
    pub(super) fn push_type_params(&mut self, names: &[ast::Name]) -> Vec<TypeVar> {
        self.scopes.push();
        self.check_distinct("the type parameter", names);
        let mut vars = Vec::with_capacity(names.len());
        for name in names {
            let var = self.rigid(&name.text);
            let entity = Entity::Type(TypeEntity::Plain(Type::Var(var.clone())));
            self.scopes.set(name.text.clone(), entity, name.span);
            vars.push(var);
        }
        vars
    }

    /// A whole prototype: type parameters, parameters, result.
    pub(super) fn prototype(&mut self, prototype: &ast::Prototype, of: ParamsOf) -> Signature {
        let type_params = self.push_type_params(&prototype.type_params);
        let returns = match &prototype.returns {
            Some(ty) => {
                let span = ty.span;
                let ty = self.resolve_type(ty);
                self.check_result(ty, span)
            }
            None => Type::Void,
        };
        let params = self.params(&prototype.params, of);
        self.scopes.pop();
        Signature {
            name: prototype.name.text.clone(),
            type_params,
            params,
            returns,
            span: prototype.name.span,
        }
    }

    fn check_result(&mut self, ty: Type, span: Span) -> Type {
        let is_value = is_storable(&ty) || matches!(ty, Type::String | Type::List(_));
        if is_value {
            return ty;
        }
        let message = format!("a function cannot return `{}`", self.show(&ty));
        self.error(code::NO_TYPE_HERE, span, message);
        Type::Unknown
    }

    /// Resolves and checks parameters. Their names are not declared.
    pub(super) fn params(&mut self, params: &[ast::Parameter], of: ParamsOf) -> Vec<Param> {
        self.check_distinct("the parameter", params.iter().map(|param| &param.name));
        if of == ParamsOf::Action {
            self.check_action_data_last(params);
        }
        params.iter().map(|param| self.param(param, of)).collect()
    }

    fn param(&mut self, param: &ast::Parameter, of: ParamsOf) -> Param {
        self.check_annotations(&param.annotations);
        let ty = self.resolve_type_with(&param.ty, DontCare::Anything);
        let optional = has_annotation(&param.annotations, "optional");
        if of.is_constructor() && param.direction != Direction::None {
            let message = "a constructor's parameter has no direction";
            self.error(code::PARAMETER, param.span, message);
        }
        let direction = if of.is_constructor() { Direction::None } else { param.direction };
        let ty = self.check_param_type(param, ty, direction, of);
        self.check_optional(param, optional, of);
        let default = param.default.as_ref().and_then(|default| {
            if !matches!(direction, Direction::None | Direction::In) {
                let message = "only `in` and directionless parameters have default values";
                self.error(code::PARAMETER, default.span, message);
                return None;
            }
            self.default_argument(default, &ty)
        });
        Param {
            name: param.name.text.clone(),
            direction,
            ty,
            optional,
            default,
            annotations: param.annotations.clone().into(),
            span: param.name.span,
        }
    }

    fn check_param_type(
        &mut self,
        param: &ast::Parameter,
        ty: Type,
        direction: Direction,
        of: ParamsOf,
    ) -> Type {
        if of.may_take(&ty, direction) && !self.is_declaration(&ty) {
            return ty;
        }
        let shown = self.show(&ty);
        let message = format!(
            "{} cannot have the parameter `{}` of type `{shown}`",
            of.words(),
            param.name.text
        );
        let mut diagnostic = Diagnostic::error(code::PARAMETER, param.span, message);
        if direction != Direction::None && of.may_take(&ty, Direction::None) {
            diagnostic = diagnostic.with_help("without a direction it is allowed");
        }
        self.report(diagnostic);
        Type::Unknown
    }

    /// True for the type of a parser or control with a body, which names no interface.
    fn is_declaration(&self, ty: &Type) -> bool {
        let (Type::Parser(block) | Type::Control(block)) = ty else { return false };
        let declared = self.parsers.iter().chain(&self.controls);
        declared.into_iter().any(|info| info.ty.declaration == block.declaration)
    }

    fn check_optional(&mut self, param: &ast::Parameter, optional: bool, of: ParamsOf) {
        if !optional {
            return;
        }
        if param.default.is_some() {
            let message = "an optional parameter cannot have a default value";
            self.error(code::PARAMETER, param.span, message);
        }
        let allowed = matches!(
            of,
            ParamsOf::Package
                | ParamsOf::ParserType
                | ParamsOf::ControlType
                | ParamsOf::Extern
                | ParamsOf::ExternConstructor
        );
        if !allowed {
            let message = format!("the parameters of {} cannot be optional", of.words());
            self.error(code::PARAMETER, param.span, message);
        }
    }

    fn check_action_data_last(&mut self, params: &[ast::Parameter]) {
        let first_data = params.iter().position(|param| param.direction == Direction::None);
        let Some(first) = first_data else { return };
        let late = params[first..].iter().find(|param| param.direction != Direction::None);
        if let Some(late) = late {
            let message = "parameters with a direction stand before those without";
            let diagnostic = Diagnostic::error(code::PARAMETER, late.span, message)
                .with_place(params[first].span, "this one has no direction: it is action data");
            self.report(diagnostic);
        }
    }

    /// Creates variables for parameters and declares them in the innermost scope.
    pub(super) fn declare_params(
        &mut self,
        params: &[Param],
        kind: impl Fn(Direction) -> hir::VarKind,
    ) -> Vec<hir::VarId> {
        let mut made = Vec::with_capacity(params.len());
        for param in params {
            let id = self.new_var(hir::Var {
                name: param.name.clone(),
                ty: param.ty.clone(),
                kind: kind(param.direction),
                annotations: param.annotations.clone(),
                span: param.span,
            });
            self.scopes.set(param.name.clone(), Entity::Var(id), param.span);
            made.push(id);
        }
        made
    }
}

impl Signature {
    /// The signature for the typed tree.
    pub(super) fn to_hir(&self) -> hir::Signature {
        hir::Signature {
            type_params: self.type_params.iter().map(|var| var.name.clone()).collect(),
            params: self.params.iter().map(Param::to_hir).collect(),
            returns: match &self.returns {
                Type::Void => None,
                ty => Some(ty.clone()),
            },
        }
    }
}

impl Param {
    fn to_hir(&self) -> hir::SignatureParam {
        hir::SignatureParam {
            name: self.name.clone(),
            direction: self.direction,
            ty: self.ty.clone(),
            optional: self.optional || self.default.is_some(),
        }
    }
}
