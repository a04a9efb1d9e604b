//! Type declarations: structs, headers, unions, enums, `typedef` and `type`, and the open sets
//! `error` and `match_kind` (specification 7.1 and 7.2).

use super::Checker;
use super::constant;
use super::messages::code;
use super::nesting::MAX_PARTS;
use super::scope::{Entity, Generic, TypeEntity};
use crate::ast::{self, Annotation, FieldsKind, Name, TypeRef};
use crate::diagnostic::Diagnostic;
use crate::hir;
use crate::source::Span;
use crate::types::{EnumType, FieldType, FieldsType, NewType, Type};
use num_bigint::BigInt;
use std::rc::Rc;
use std::sync::Arc;

impl Checker<'_> {
    /// `struct`, `header`, `header_union`
    pub(super) fn declare_fields(
        &mut self,
        kind: FieldsKind,
        name: &Name,
        type_params: &[Name],
        fields: &[ast::Field],
        annotations: &[Annotation],
    ) {
        self.unfinished(name, "a type");
        let params = self.push_type_params(type_params);
        self.check_distinct("the field", fields.iter().map(|field| &field.name));
        let names: Vec<&Name> = fields.iter().map(|field| &field.name).collect();
        let made = fields.iter().enumerate().map(|(at, field)| {
            self.check_annotations(&field.annotations);
            self.check_length(&field.annotations, &names[..at]);
            let span = field.ty.span;
            let ty = self.resolve_type(&field.ty);
            FieldType {
                name: field.name.text.clone(),
                ty: self.field_type(kind, ty, span),
                annotations: field.annotations.clone().into(),
            }
        });
        let made: Vec<FieldType> = made.collect();
        self.scopes.pop();
        let shown = format!("`{}`", name.text);
        if self.too_large(made.iter().map(|field| &field.ty), MAX_PARTS, &shown, name.span) {
            // Uses of this type are broken, too, and do not double its size further.
            self.finish(name, Entity::Broken);
            return;
        }
        let body = Arc::new(FieldsType {
            declaration: self.declaration_id(),
            name: name.text.clone(),
            args: params.iter().cloned().map(Type::Var).collect(),
            fields: made,
            annotations: annotations.to_vec().into(),
            span: name.span,
        });
        let entity = if params.is_empty() {
            if kind == FieldsKind::Header {
                self.program.headers.push(body.clone());
            }
            TypeEntity::Plain(match kind {
                FieldsKind::Struct => Type::Struct(body),
                FieldsKind::Header => Type::Header(body),
                FieldsKind::HeaderUnion => Type::HeaderUnion(body),
            })
        } else {
            TypeEntity::Fields(Rc::new(Generic { params, body }), kind)
        };
        self.finish(name, Entity::Type(entity));
    }

    /// Marks a name as being declared, so that a use of it in its own declaration is recursion.
    pub(super) fn unfinished(&mut self, name: &Name, what: &'static str) {
        if self.scopes.here(&name.text).is_none() {
            self.scopes.set(name.text.clone(), Entity::Unfinished(what), name.span);
        }
    }

    /// Declares a name that [`Checker::unfinished`] marked.
    pub(super) fn finish(&mut self, name: &Name, entity: Entity) -> bool {
        self.declare(name, entity)
    }

    /// `enum Name { ... }` and `enum T Name { ... }`; returns the values of its members.
    pub(super) fn declare_enum(
        &mut self,
        name: &Name,
        underlying: Option<&TypeRef>,
        members: &[(Name, Option<ast::Expr>)],
    ) -> Vec<(Arc<str>, BigInt)> {
        self.check_distinct("the enum member", members.iter().map(|(name, _)| name));
        let mut enumeration = EnumType {
            declaration: self.declaration_id(),
            name: name.text.clone(),
            underlying: None,
            members: Vec::new(),
            span: name.span,
        };
        let mut given = Vec::new();
        let ty = match underlying {
            None => {
                enumeration.members = self.plain_members(members);
                Type::Enum(Arc::new(enumeration))
            }
            Some(written) => {
                enumeration.underlying = Some(self.enum_representation(written));
                enumeration.members = self.serializable_members(&enumeration, members);
                given.clone_from(&enumeration.members);
                Type::SerializableEnum(Arc::new(enumeration))
            }
        };
        self.declare(name, Entity::Type(TypeEntity::Plain(ty)));
        given
    }

    fn plain_members(&mut self, members: &[(Name, Option<ast::Expr>)]) -> Vec<(Arc<str>, BigInt)> {
        for (name, value) in members {
            if let Some(value) = value {
                let message = format!("`{}` has a value, but its enum has no type", name.text);
                let diagnostic = Diagnostic::error(code::BAD_ENUM, value.span, message);
                self.report(diagnostic.with_help("give the enum a type: `enum bit<8> ...`"));
            }
        }
        let numbered = members.iter().enumerate();
        numbered.map(|(at, (name, _))| (name.text.clone(), BigInt::from(at))).collect()
    }

    fn enum_representation(&mut self, written: &TypeRef) -> Type {
        let ty = self.resolve_type(written);
        if matches!(ty, Type::Bit(_) | Type::Int(_) | Type::Unknown) {
            return ty;
        }
        let shown = self.show(&ty);
        let message = format!("an enum is represented by `bit<W>` or `int<W>`, found `{shown}`");
        self.error(code::BAD_ENUM, written.span, message);
        Type::Unknown
    }

    /// Members with their values; a value may name the members before it.
    fn serializable_members(
        &mut self,
        enumeration: &EnumType,
        members: &[(Name, Option<ast::Expr>)],
    ) -> Vec<(Arc<str>, BigInt)> {
        let underlying = enumeration.underlying.clone().unwrap_or(Type::Unknown);
        let ty = Type::SerializableEnum(Arc::new(enumeration.clone()));
        let mut made = Vec::new();
        self.scopes.push();
        for (name, value) in members {
            let Some(value) = value else {
                let message = format!("the enum member `{}` needs a value", name.text);
                self.error(code::BAD_ENUM, name.span, message);
                continue;
            };
            let (number, found) = self
                .known_number(value, "an enum member's value")
                .unwrap_or_else(|| (BigInt::default(), Type::Unknown));
            if underlying != Type::Unknown
                && ![&Type::InfInt, &Type::Unknown, &underlying].contains(&&found)
            {
                let (shown, wanted) = (self.show(&found), self.show(&underlying));
                let message =
                    format!("the member `{}` is `{shown}`, its enum `{wanted}`", name.text);
                let diagnostic = Diagnostic::error(code::BAD_ENUM, value.span, message);
                self.report(diagnostic.with_help(format!(
                    "write {number} without a width, or with that of the enum"
                )));
            } else if underlying != Type::Unknown && !constant::fits(&number, &underlying) {
                let shown = self.show(&underlying);
                let message = format!("{number} is not a value of `{shown}`");
                self.error(code::BAD_ENUM, value.span, message);
            }
            let constant = super::operand::integer(number.clone(), ty.clone(), name.span);
            let entity = Entity::Constant(Rc::new(constant));
            self.scopes.set(name.text.clone(), entity, name.span);
            made.push((name.text.clone(), number));
        }
        self.scopes.pop();
        made
    }

    /// `typedef T name;`
    pub(super) fn declare_typedef(&mut self, target: &ast::TypedefTarget, name: &Name) {
        let ty = match target {
            ast::TypedefTarget::Type(written) => {
                let ty = self.resolve_type(written);
                self.check_typedef(&ty, written.span);
                ty
            }
            ast::TypedefTarget::Declaration(declaration) => self.inline_type(declaration),
        };
        self.declare(name, Entity::Type(TypeEntity::Plain(ty)));
    }

    fn check_typedef(&mut self, ty: &Type, span: Span) {
        if matches!(ty, Type::String | Type::MatchKind | Type::Void) {
            let message = format!("`typedef` cannot name `{}`", self.show(ty));
            self.error(code::NO_TYPE_HERE, span, message);
        }
    }

    /// A struct, header, union or enum declared inside a `typedef`.
    fn inline_type(&mut self, declaration: &ast::Declaration) -> Type {
        let annotations = &declaration.annotations;
        let name = match &declaration.kind {
            ast::DeclarationKind::Fields { kind, name, type_params, fields } => {
                self.declare_fields(*kind, name, type_params, fields, annotations);
                name
            }
            ast::DeclarationKind::Enum { name, underlying, members } => {
                self.declare_enum(name, underlying.as_ref(), members);
                name
            }
            _ => return Type::Unknown,
        };
        match self.resolve(name, false) {
            Entity::Type(entity) => self.apply_type(&entity, &[], name.span),
            _ => Type::Unknown,
        }
    }

    /// `type T name;`
    pub(super) fn declare_new_type(
        &mut self,
        written: &TypeRef,
        name: &Name,
        annotations: &[Annotation],
    ) {
        let target = self.resolve_type(written);
        let allowed = matches!(
            target,
            Type::Bit(_) | Type::Int(_) | Type::Bool | Type::New(_) | Type::Unknown
        );
        if !allowed {
            let message = format!("`type` cannot stand on `{}`", self.show(&target));
            let diagnostic = Diagnostic::error(code::NO_TYPE_HERE, written.span, message);
            let note = "only `bit<W>`, `int<W>`, `bool` and types made by `type` may be used";
            self.report(diagnostic.with_note(note));
        }
        let target = if allowed { target } else { Type::Unknown };
        let declaration = self.declaration_id();
        let annotations = annotations.to_vec().into();
        let name_text = name.text.clone();
        let ty = Type::New(Arc::new(NewType { declaration, name: name_text, target, annotations }));
        self.declare(name, Entity::Type(TypeEntity::Plain(ty)));
    }

    /// `error { ... }`
    pub(super) fn declare_errors(&mut self, names: &[Name]) {
        for name in names {
            if self.program.errors.contains(&name.text) {
                let message = format!("the error `{}` is declared already", name.text);
                self.error(code::DUPLICATE_NAME, name.span, message);
            } else {
                self.program.errors.push(name.text.clone());
            }
        }
    }

    /// `match_kind { ... }`: the members are names of the top level.
    pub(super) fn declare_match_kinds(&mut self, names: &[Name]) {
        for name in names {
            if self.program.match_kinds.contains(&name.text) {
                let message = format!("the match kind `{}` is declared already", name.text);
                self.error(code::DUPLICATE_NAME, name.span, message);
                continue;
            }
            let index = self.program.match_kinds.len();
            self.program.match_kinds.push(name.text.clone());
            let value = hir::Expr {
                kind: hir::ExprKind::Const(hir::Value::Int(BigInt::from(index))),
                ty: Type::MatchKind,
                span: name.span,
            };
            self.declare(name, Entity::Constant(Rc::new(value)));
        }
    }
}
