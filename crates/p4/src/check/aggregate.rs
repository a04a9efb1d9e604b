//! Literals in braces: `{ a, b }`, `{ k = v }`, and `...` for default values (specification 8.12,
//! 8.13, 8.26).
//!
//! If the context requires a known type, elements are checked against it one by one. Otherwise the
//! literal gets the type of a tuple or of an unnamed struct, and `convert` completes it.

use super::Checker;
use super::convert::anonymous;
use super::messages::code;
use super::operand::{broken, typed};
use crate::ast;
use crate::diagnostic::{Diagnostic, near_name};
use crate::hir::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{FieldType, FieldsType, Type};
use std::sync::Arc;

impl Checker<'_> {
    /// `...` on its own: the default value of the expected type.
    pub(super) fn dots(&mut self, expected: Option<&Type>, span: Span) -> Expr {
        let Some(ty) = expected else {
            self.error(code::DOTS, span, "the type of `...` is not known here");
            return broken(span);
        };
        match self.default_value(ty, span) {
            Some(value) => value,
            None => {
                let message = format!("`{}` has no default value", self.show(ty));
                self.error(code::NO_DEFAULT, span, message);
                broken(span)
            }
        }
    }

    /// `{ a, b }`
    pub(super) fn list(
        &mut self,
        elements: &[ast::Expr],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let is_dots = |expr: &ast::Expr| matches!(expr.kind, ast::ExprKind::Dots);
        let (elements, dots) = match elements.split_last() {
            Some((last, before)) if is_dots(last) => (before, Some(last.span)),
            _ => (elements, None),
        };
        if let Some(early) =
            elements.iter().find(|element| is_dots(element)).filter(|_| dots.is_some())
        {
            self.error(code::DOTS, early.span, "`...` must be the last element");
            return broken(span);
        }
        let expected = expected.map(|ty| self.resolved(ty)).filter(|ty| !self.is_open(ty));
        let types = expected.as_ref().and_then(|ty| element_types(ty, elements.len()));
        match (types, expected) {
            (Some(types), Some(ty)) => self.list_of(elements, dots, &types, &ty, span),
            (_, Some(Type::Unknown)) => {
                for element in elements {
                    self.expr(element, Some(&Type::Unknown));
                }
                broken(span)
            }
            _ => self.list_without_type(elements, dots, span),
        }
    }

    fn list_without_type(
        &mut self,
        elements: &[ast::Expr],
        dots: Option<Span>,
        span: Span,
    ) -> Expr {
        if let Some(dots) = dots {
            self.error(code::DOTS, dots, "the type of the rest, `...`, is not known here");
            return broken(span);
        }
        let made: Vec<Expr> = elements.iter().map(|element| self.expr(element, None)).collect();
        if made.iter().any(|element| element.ty == Type::Unknown) {
            return broken(span);
        }
        let types: Vec<Type> = made.iter().map(|element| element.ty.clone()).collect();
        typed(ExprKind::Aggregate(made), Type::Tuple(types.into()), span)
    }

    fn list_of(
        &mut self,
        elements: &[ast::Expr],
        dots: Option<Span>,
        types: &[(Option<Arc<str>>, Type)],
        ty: &Type,
        span: Span,
    ) -> Expr {
        let enough = if dots.is_some() {
            elements.len() <= types.len()
        } else {
            elements.len() == types.len()
        };
        if !enough {
            let (wanted, found, shown) = (types.len(), elements.len(), self.show(ty));
            let message = format!("`{shown}` has {wanted} elements, found {found}");
            let mut diagnostic = Diagnostic::error(code::FIELDS, span, message);
            if let Type::Struct(f) | Type::Header(f) = ty {
                diagnostic = diagnostic.with_place(f.span, "declared here");
            }
            self.report(diagnostic);
            return broken(span);
        }
        let mut made = Vec::with_capacity(types.len());
        for (element, (name, wanted)) in elements.iter().zip(types) {
            let value = self.expr(element, Some(wanted));
            let what = match name {
                Some(name) => format!("field `{name}`"),
                None => "element".to_string(),
            };
            made.push(self.convert(value, wanted, &what, None));
        }
        if let Some(dots) = dots {
            for (_, wanted) in &types[made.len()..] {
                made.push(self.dots(Some(wanted), dots));
            }
        }
        typed(ExprKind::Aggregate(made), ty.clone(), span)
    }

    /// `{ k = v }`
    pub(super) fn key_values(
        &mut self,
        entries: &[(ast::Name, ast::Expr)],
        has_dots: bool,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        self.check_distinct("the field", entries.iter().map(|(name, _)| name));
        let expected = expected.map(|ty| self.resolved(ty)).filter(|ty| !self.is_open(ty));
        match expected {
            Some(ty @ (Type::Struct(_) | Type::Header(_))) => {
                let (Type::Struct(fields) | Type::Header(fields)) = ty.clone() else {
                    return broken(span);
                };
                self.key_values_of(entries, has_dots, &fields, &ty, span)
            }
            Some(Type::Unknown) => {
                for (_, value) in entries {
                    self.expr(value, Some(&Type::Unknown));
                }
                broken(span)
            }
            _ if has_dots => {
                self.error(code::DOTS, span, "the type of the rest, `...`, is not known here");
                broken(span)
            }
            _ => self.key_values_without_type(entries, span),
        }
    }

    fn key_values_without_type(&mut self, entries: &[(ast::Name, ast::Expr)], span: Span) -> Expr {
        let mut made = Vec::with_capacity(entries.len());
        let mut fields = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            let value = self.expr(value, None);
            let ty = value.ty.clone();
            fields.push(FieldType { name: name.text.clone(), ty, annotations: Arc::from([]) });
            made.push(value);
        }
        if made.iter().any(|element| element.ty == Type::Unknown) {
            return broken(span);
        }
        typed(ExprKind::Aggregate(made), anonymous(fields, span), span)
    }

    fn key_values_of(
        &mut self,
        entries: &[(ast::Name, ast::Expr)],
        has_dots: bool,
        fields: &FieldsType,
        ty: &Type,
        span: Span,
    ) -> Expr {
        for (name, _) in entries {
            if !fields.fields.iter().any(|field| field.name == name.text) {
                self.no_such_field(name, fields);
            }
        }
        let mut made = Vec::with_capacity(fields.fields.len());
        let mut missing = Vec::new();
        for field in &fields.fields {
            match entries.iter().find(|(name, _)| name.text == field.name) {
                Some((_, value)) => {
                    let value = self.expr(value, Some(&field.ty));
                    let what = format!("field `{}`", field.name);
                    made.push(self.convert(value, &field.ty, &what, None));
                }
                None if has_dots => made.push(self.dots(Some(&field.ty), span)),
                None => missing.push(format!("`{}`", field.name)),
            }
        }
        if !missing.is_empty() {
            let message = format!("`{}` also has {}", self.show(ty), missing.join(", "));
            let diagnostic = Diagnostic::error(code::FIELDS, span, message)
                .with_place(fields.span, "declared here")
                .with_help("`...` at the end gives the rest their default values");
            self.report(diagnostic);
            return broken(span);
        }
        typed(ExprKind::Aggregate(made), ty.clone(), span)
    }

    /// Reports that a struct, header or union has no such field.
    pub(super) fn no_such_field(&mut self, name: &ast::Name, fields: &FieldsType) {
        let known = fields.fields.iter().map(|field| &*field.name);
        let near = near_name(&name.text, known).map(str::to_string);
        let shown = if fields.name.is_empty() { "this literal" } else { &fields.name };
        let message = format!("`{shown}` has no field `{}`", name.text);
        let mut diagnostic = Diagnostic::error(code::NO_SUCH_MEMBER, name.span, message)
            .with_place(fields.span, "declared here");
        if let Some(near) = near {
            let text = format!("did you mean `{near}`?");
            diagnostic = diagnostic.with_suggestion(name.span, near, text);
        }
        self.report(diagnostic);
    }
}

/// Names and types of the elements of a literal of this type.
fn element_types(ty: &Type, given: usize) -> Option<Vec<(Option<Arc<str>>, Type)>> {
    Some(match ty {
        Type::Struct(f) | Type::Header(f) => {
            f.fields.iter().map(|field| (Some(field.name.clone()), field.ty.clone())).collect()
        }
        Type::Tuple(elements) => elements.iter().map(|ty| (None, ty.clone())).collect(),
        Type::Stack(element, n) => vec![(None, (**element).clone()); *n as usize],
        Type::List(element) => vec![(None, (**element).clone()); given],
        _ => return None,
    })
}
