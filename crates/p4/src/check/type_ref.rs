//! Written types: from a reference in the source to a [`Type`] (specification 7.1 to 7.3).
//!
//! Resolves names, evaluates widths and sizes, applies type arguments. `nesting` decides which
//! types may contain which.

use super::Checker;
use super::infer::{substitute, substitution};
use super::messages::code;
use super::scope::{Entity, TypeEntity};
use crate::ast::{self, TypeRef, TypeRefKind};
use crate::diagnostic::Diagnostic;
use crate::hir;
use crate::source::Span;
use crate::types::{MAX_WIDTH, Type};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use std::sync::Arc;

/// Meaning of `_` in a type position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DontCare {
    /// Not allowed: an error.
    Refuse,
    /// Any type: in the type of a parameter.
    Anything,
    /// To be inferred: in a call or instantiation.
    Infer,
}

impl Checker<'_> {
    /// A written type without `_`.
    pub(super) fn resolve_type(&mut self, written: &TypeRef) -> Type {
        self.resolve_type_with(written, DontCare::Refuse)
    }

    /// A written type.
    pub(super) fn resolve_type_with(&mut self, written: &TypeRef, dont_care: DontCare) -> Type {
        if !self.enter(written.span) {
            return Type::Unknown;
        }
        let ty = self.resolve_type_inner(written, dont_care);
        self.leave();
        ty
    }

    fn resolve_type_inner(&mut self, written: &TypeRef, dont_care: DontCare) -> Type {
        let span = written.span;
        match &written.kind {
            TypeRefKind::Bool => Type::Bool,
            TypeRefKind::Error => Type::Error,
            TypeRefKind::MatchKind => Type::MatchKind,
            TypeRefKind::String => Type::String,
            TypeRefKind::InfInt => Type::InfInt,
            TypeRefKind::Bit(None) => Type::Bit(1),
            TypeRefKind::Bit(Some(width)) => self.width(width, 0).map_or(Type::Unknown, Type::Bit),
            TypeRefKind::Int(width) => self.width(width, 1).map_or(Type::Unknown, Type::Int),
            TypeRefKind::VarBit(width) => self.width(width, 0).map_or(Type::Unknown, Type::VarBit),
            TypeRefKind::Named { name, global } => match self.type_entity(name, *global) {
                Some(entity) => self.without_arguments(&entity, span),
                None => Type::Unknown,
            },
            TypeRefKind::Specialized { name, global, args } => {
                let entity = self.type_entity(name, *global);
                let args: Vec<Type> =
                    args.iter().map(|arg| self.type_argument(arg, dont_care)).collect();
                entity.map_or(Type::Unknown, |entity| self.apply_type(&entity, &args, span))
            }
            TypeRefKind::Stack(element, size) => {
                let element = self.resolve_type_with(element, dont_care);
                match self.width(size, 1) {
                    Some(size) => self.well_formed(Type::Stack(Arc::new(element), size), span),
                    None => Type::Unknown,
                }
            }
            TypeRefKind::Tuple(elements) => {
                let elements = elements.iter();
                let elements: Vec<Type> =
                    elements.map(|element| self.type_argument(element, dont_care)).collect();
                self.well_formed(Type::Tuple(elements.into()), span)
            }
            TypeRefKind::List(element) => {
                let element = self.type_argument(element, dont_care);
                self.well_formed(Type::List(Arc::new(element)), span)
            }
            TypeRefKind::Void => {
                self.error(code::NO_TYPE_HERE, span, "`void` is only the result of a function");
                Type::Unknown
            }
            TypeRefKind::DontCare => self.dont_care(dont_care, span),
        }
    }

    /// A type argument, the only position that allows `_`.
    pub(super) fn type_argument(&mut self, written: &TypeRef, dont_care: DontCare) -> Type {
        match &written.kind {
            TypeRefKind::DontCare => self.dont_care(dont_care, written.span),
            TypeRefKind::Void if dont_care != DontCare::Refuse => Type::Void,
            _ => self.resolve_type_with(written, dont_care),
        }
    }

    fn dont_care(&mut self, dont_care: DontCare, span: Span) -> Type {
        match dont_care {
            DontCare::Anything => Type::Unknown,
            DontCare::Infer => self.fresh(&Arc::from("_")),
            DontCare::Refuse => {
                self.error(code::NO_TYPE_HERE, span, "`_` cannot stand for a type here");
                Type::Unknown
            }
        }
    }

    /// Type that a name denotes.
    pub(super) fn type_entity(&mut self, name: &ast::Name, global: bool) -> Option<TypeEntity> {
        if self.scopes.find(&name.text, global).is_none() {
            self.unknown_name(name, "type", |entity| matches!(entity, Entity::Type(_)));
            return None;
        }
        match self.resolve(name, global) {
            Entity::Type(entity) => Some(entity),
            Entity::Broken => None,
            _ => {
                self.wrong_kind(name, global, "a type");
                None
            }
        }
    }

    /// Number of type parameters of a declared type.
    pub(super) fn type_param_count(&self, entity: &TypeEntity) -> usize {
        match entity {
            TypeEntity::Plain(_) => 0,
            TypeEntity::Parser(id) => self.parsers[id.index()].type_params.len(),
            TypeEntity::Control(id) => self.controls[id.index()].type_params.len(),
            TypeEntity::Fields(generic, _) => generic.params.len(),
            TypeEntity::BlockType(generic, _) => generic.params.len(),
            TypeEntity::Extern(id) => self.externs[id.index()].type_params.len(),
            TypeEntity::Package(id) => self.packages[id.index()].type_params.len(),
        }
    }

    fn without_arguments(&mut self, entity: &TypeEntity, span: Span) -> Type {
        self.apply_type(entity, &[], span)
    }

    /// A declared type with its type arguments; reports a wrong number of them.
    pub(super) fn apply_type(&mut self, entity: &TypeEntity, args: &[Type], span: Span) -> Type {
        let wanted = self.type_param_count(entity);
        if wanted != args.len() {
            let written = self.sources.text(span).to_string();
            let message = format!(
                "expected {wanted} type argument{}, found {}: `{written}`",
                if wanted == 1 { "" } else { "s" },
                args.len()
            );
            self.error(code::TYPE_ARGUMENTS, span, message);
            return Type::Unknown;
        }
        let ty = self.type_of_entity(entity, args);
        if args.is_empty() {
            return ty;
        }
        if args.iter().any(|arg| mentions(&self.resolved(arg), &ty)) {
            let message = format!("`{}` has itself among its type arguments", self.show(&ty));
            self.error(code::NESTING, span, message);
            return Type::Unknown;
        }
        self.well_formed(ty, span)
    }

    /// A declared type with the right number of type arguments.
    pub(super) fn type_of_entity(&self, entity: &TypeEntity, args: &[Type]) -> Type {
        match entity {
            TypeEntity::Plain(ty) => ty.clone(),
            TypeEntity::Parser(id) => {
                let info = &self.parsers[id.index()];
                let ty = Type::Parser(info.ty.clone());
                substitute(&ty, &substitution(&info.type_params, args))
            }
            TypeEntity::Control(id) => {
                let info = &self.controls[id.index()];
                let ty = Type::Control(info.ty.clone());
                substitute(&ty, &substitution(&info.type_params, args))
            }
            TypeEntity::Extern(id) => Type::Extern(*id, args.into()),
            TypeEntity::Package(id) => Type::Package(*id, args.into()),
            TypeEntity::Fields(generic, kind) => {
                let body = generic.body.clone();
                let ty = match kind {
                    ast::FieldsKind::Struct => Type::Struct(body),
                    ast::FieldsKind::Header => Type::Header(body),
                    ast::FieldsKind::HeaderUnion => Type::HeaderUnion(body),
                };
                substitute(&ty, &substitution(&generic.params, args))
            }
            TypeEntity::BlockType(generic, is_parser) => {
                let body = generic.body.clone();
                let ty = if *is_parser { Type::Parser(body) } else { Type::Control(body) };
                substitute(&ty, &substitution(&generic.params, args))
            }
        }
    }

    /// A width or size: a known number, at least `least`.
    fn width(&mut self, written: &ast::Expr, least: u32) -> Option<u32> {
        let value = self.known_integer(written, "a width or size")?;
        if value < BigInt::from(least) {
            let message = format!("a width or size of at least {least} is needed, found {value}");
            self.error(code::BAD_WIDTH, written.span, message);
            return None;
        }
        match value.to_u32() {
            Some(value) if value <= MAX_WIDTH => Some(value),
            _ => {
                let message = format!("a width or size of at most {MAX_WIDTH} is possible");
                self.error(code::BAD_WIDTH, written.span, message);
                None
            }
        }
    }

    /// The value of an expression that must be a number known from its own scope.
    pub(super) fn known_integer(&mut self, written: &ast::Expr, what: &str) -> Option<BigInt> {
        self.known_number(written, what).map(|(number, _)| number)
    }

    /// [`Checker::known_integer`] with its type: that of an enum's numbers for a member.
    pub(super) fn known_number(
        &mut self,
        written: &ast::Expr,
        what: &str,
    ) -> Option<(BigInt, Type)> {
        let expr = self.expr(written, None);
        let expr = self.enum_as_number(expr);
        if expr.ty == Type::Unknown {
            return None;
        }
        match (&expr.kind, &expr.ty) {
            (
                hir::ExprKind::Const(hir::Value::Int(n)),
                Type::InfInt | Type::Bit(_) | Type::Int(_),
            ) => Some((n.clone(), expr.ty.clone())),
            (_, Type::InfInt | Type::Bit(_) | Type::Int(_)) => {
                let message = format!("{what} must be known where it stands");
                let diagnostic = Diagnostic::error(code::NOT_CONSTANT, written.span, message);
                self.report(diagnostic.with_label("not a constant"));
                None
            }
            (_, ty) => {
                let message = format!("{what} must be a number, found `{}`", self.show(ty));
                self.error(code::MISMATCH, written.span, message);
                None
            }
        }
    }

    /// Like [`Checker::known_integer`], for counts.
    pub(super) fn known_count(&mut self, written: &ast::Expr, what: &str) -> Option<u32> {
        let value = self.known_integer(written, what)?;
        let count = if value.is_negative() { None } else { value.to_u32() };
        if count.is_none() {
            let message = format!("{what} is out of range: {value}");
            self.error(code::OUT_OF_RANGE, written.span, message);
        }
        count
    }
}

/// True if a type contains an extern or package, whatever its type arguments. A struct may occur
/// inside itself, as `Pair<Pair<bit<8>>>` is finite.
fn mentions(within: &Type, what: &Type) -> bool {
    let any = |types: &[Type]| types.iter().any(|ty| mentions(ty, what));
    match (within, what) {
        (Type::Extern(a, _), Type::Extern(b, _)) if a == b => true,
        (Type::Package(a, _), Type::Package(b, _)) if a == b => true,
        (Type::Extern(_, args) | Type::Package(_, args) | Type::Tuple(args), _) => any(args),
        (Type::Struct(f) | Type::Header(f) | Type::HeaderUnion(f), _) => any(&f.args),
        (Type::Stack(inner, _) | Type::List(inner) | Type::Set(inner), _) => mentions(inner, what),
        (Type::Parser(block) | Type::Control(block), _) => {
            any(&block.args) || block.params.iter().any(|(_, _, ty)| mentions(ty, what))
        }
        _ => false,
    }
}
