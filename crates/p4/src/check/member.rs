//! `a.b`: fields, enum members, errors, and the properties of stacks and table results
//! (specification 8.2, 8.3, 8.15 to 8.19).
//!
//! Methods are not members: `call` handles them.

use super::Checker;
use super::code_context::ContextKind;
use super::messages::code;
use super::operand::{Operand, broken, integer, is_constant, typed};
use super::scope::TypeEntity;
use crate::ast::{self, Name};
use crate::diagnostic::{Diagnostic, near_name};
use crate::hir::{ApplyResult, Expr, ExprKind};
use crate::source::Span;
use crate::types::{EnumType, FieldsType, TableId, Type};
use num_bigint::BigInt;

impl Checker<'_> {
    /// `base.name`
    pub(super) fn member(&mut self, base: &ast::Expr, name: &Name, span: Span) -> Operand {
        match self.operand(base, None) {
            Operand::Broken => Operand::Broken,
            Operand::Type(TypeEntity::Plain(ty)) | Operand::Applied(ty) => {
                Operand::Value(self.type_member(&ty, name, span))
            }
            Operand::Type(_) => {
                self.no_member("this type", name, &[]);
                Operand::Broken
            }
            Operand::TableResult(table) => self.table_result(table, name, span),
            Operand::Value(value) => Operand::Value(self.value_member(value, name, span)),
            Operand::Object(_, ty) => {
                let shown = self.show(&ty);
                self.no_member(&format!("an instance of `{shown}`"), name, &[]);
                Operand::Broken
            }
            Operand::Table(_) => {
                self.no_member("a table", name, &["apply"]);
                Operand::Broken
            }
            Operand::Functions(_) | Operand::Action(_) | Operand::ValueSet => {
                self.no_member("this", name, &[]);
                Operand::Broken
            }
        }
    }

    /// Reports that a type has no member of this name.
    fn no_member(&mut self, what: &str, name: &Name, known: &[&str]) {
        let message = format!("{what} has no member `{}`", name.text);
        let near = near_name(&name.text, known.iter().copied()).map(str::to_string);
        let mut diagnostic = Diagnostic::error(code::NO_SUCH_MEMBER, name.span, message);
        if let Some(near) = near {
            let text = format!("did you mean `{near}`?");
            diagnostic = diagnostic.with_suggestion(name.span, near, text);
        }
        self.report(diagnostic);
    }

    fn type_member(&mut self, ty: &Type, name: &Name, span: Span) -> Expr {
        match ty {
            Type::Enum(e) | Type::SerializableEnum(e) => self.enum_member(e, ty, name, span),
            Type::Error => self.error_member(name, span),
            Type::Unknown => broken(span),
            _ => {
                let shown = self.show(ty);
                self.no_member(&format!("the type `{shown}`"), name, &[]);
                broken(span)
            }
        }
    }

    fn enum_member(&mut self, e: &EnumType, ty: &Type, name: &Name, span: Span) -> Expr {
        if let Some((_, value)) = e.members.iter().find(|(member, _)| *member == name.text) {
            return integer(value.clone(), ty.clone(), span);
        }
        let known: Vec<&str> = e.members.iter().map(|(member, _)| &**member).collect();
        let near = near_name(&name.text, known).map(str::to_string);
        let message = format!("the enum `{}` has no member `{}`", e.name, name.text);
        let mut diagnostic = Diagnostic::error(code::NO_SUCH_MEMBER, name.span, message)
            .with_place(e.span, "declared here");
        if let Some(near) = near {
            let text = format!("did you mean `{near}`?");
            diagnostic = diagnostic.with_suggestion(name.span, near, text);
        }
        self.report(diagnostic);
        broken(span)
    }

    /// `error.name`
    pub(super) fn error_member(&mut self, name: &Name, span: Span) -> Expr {
        if let Some(index) = self.program.errors.iter().position(|e| *e == name.text) {
            return integer(BigInt::from(index), Type::Error, span);
        }
        let known = self.program.errors.clone();
        let known: Vec<&str> = known.iter().map(|name| &**name).collect();
        self.no_member("`error`", name, &known);
        broken(span)
    }

    fn table_result(&mut self, table: TableId, name: &Name, span: Span) -> Operand {
        let result = match &*name.text {
            "hit" => ApplyResult::Hit,
            "miss" => ApplyResult::Miss,
            "action_run" => {
                let message = "`action_run` may stand only as the whole subject of a `switch`";
                self.error(code::WRONG_PLACE, span, message);
                return Operand::Broken;
            }
            _ => {
                let known = ["hit", "miss", "action_run"];
                self.no_member("the result of applying a table", name, &known);
                return Operand::Broken;
            }
        };
        Operand::Value(typed(ExprKind::ApplyTable(table, result), Type::Bool, span))
    }

    fn value_member(&mut self, base: Expr, name: &Name, span: Span) -> Expr {
        match &base.ty {
            Type::Unknown => broken(span),
            Type::Struct(f) | Type::Header(f) | Type::HeaderUnion(f) => {
                let fields = f.clone();
                self.field(base, &fields, name, span)
            }
            Type::Stack(..) => self.stack_member(base, name, span),
            ty => {
                let shown = self.show(ty);
                self.no_member(&format!("a value of type `{shown}`"), name, &[]);
                broken(span)
            }
        }
    }

    fn field(&mut self, base: Expr, fields: &FieldsType, name: &Name, span: Span) -> Expr {
        let found = fields.fields.iter().position(|field| field.name == name.text);
        let Some(at) = found else {
            self.no_such_field(name, fields);
            return broken(span);
        };
        if let ExprKind::Aggregate(elements) = &base.kind
            && let Some(element) = elements.get(at).filter(|_| is_constant(&base))
        {
            return Expr { span, ..element.clone() };
        }
        let ty = fields.fields[at].ty.clone();
        self.note_field(name.span, fields, &ty);
        typed(ExprKind::Field(Box::new(base), at as u32), ty, span)
    }

    fn stack_member(&mut self, base: Expr, name: &Name, span: Span) -> Expr {
        let Type::Stack(element, size) = base.ty.clone() else { return broken(span) };
        let is_headers = matches!(*element, Type::Header(_) | Type::HeaderUnion(_) | Type::Unknown);
        let base = Box::new(base);
        let (kind, ty) = match &*name.text {
            "size" => return integer(size, Type::Bit(32), span),
            "next" if is_headers => (ExprKind::StackNext(base), (*element).clone()),
            "last" if is_headers => (ExprKind::StackLast(base), (*element).clone()),
            "lastIndex" if is_headers => (ExprKind::StackLastIndex(base), Type::Bit(32)),
            _ => {
                let known = ["size", "next", "last", "lastIndex", "push_front", "pop_front"];
                self.no_member("a stack", name, &known);
                return broken(span);
            }
        };
        let in_parser =
            matches!(self.place.kind, ContextKind::ParserState | ContextKind::ParserLocals);
        if !in_parser {
            let message = format!("`{}` of a stack is known only in parsers", name.text);
            self.error(code::WRONG_PLACE, name.span, message);
            return broken(span);
        }
        typed(kind, ty, span)
    }
}
