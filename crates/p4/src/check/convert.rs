//! Explicit and implicit casts (specification 8.11).
//!
//! [`Checker::try_convert`] makes P4's implicit casts; [`Checker::convert`] also reports if there
//! is none. Literals in braces get their type here if it was not known before.

use super::Checker;
use super::constant;
use super::messages::code;
use super::operand::{broken, integer, typed};
use super::type_ref::DontCare;
use crate::ast::{self, BinaryOp, TypeRef};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{FieldsType, Type};
use num_traits::Signed;
use std::sync::Arc;

impl Checker<'_> {
    /// A plain number converted to a type with a width; warns if bits are lost.
    pub(super) fn number_to(&mut self, number: Expr, ty: &Type) -> Expr {
        let span = number.span;
        match &number.kind {
            ExprKind::Const(Value::Int(n)) => {
                let cut = constant::wrap(n, ty);
                if !self.afford(cut.bits() / 64, span) {
                    return broken(span);
                }
                if cut != *n {
                    let shown = self.show(ty);
                    let message = format!("{n} does not fit into `{shown}`: it becomes {cut}");
                    self.warning(code::OVERFLOW, span, message);
                }
                integer(cut, ty.clone(), span)
            }
            // A shift by action data is computed at run time, in the required width.
            ExprKind::Binary(op, left, right) if !self.is_known(&number) => {
                let (op, left, right) = (*op, (**left).clone(), (**right).clone());
                let left = self.number_to(left, ty);
                let right = match right.ty {
                    Type::InfInt if !matches!(op, BinaryOp::Shl | BinaryOp::Shr) => {
                        self.number_to(right, ty)
                    }
                    _ => right,
                };
                typed(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty.clone(), span)
            }
            ExprKind::Unary(op, operand) if !self.is_known(&number) => {
                let (op, operand) = (*op, self.number_to((**operand).clone(), ty));
                typed(ExprKind::Unary(op, Box::new(operand)), ty.clone(), span)
            }
            _ => typed(ExprKind::Cast(Box::new(number)), ty.clone(), span),
        }
    }

    /// The expression as a value of type `to`, if P4 casts it implicitly; else unchanged.
    pub(super) fn try_convert(&mut self, expr: Expr, to: &Type) -> Result<Expr, Expr> {
        let to = self.resolved(to);
        if expr.ty == to {
            return Ok(expr);
        }
        match (&expr.ty, &to) {
            (Type::Unknown, _) | (_, Type::Unknown) => Ok(expr),
            (Type::InfInt, Type::Bit(_) | Type::Int(_)) => Ok(self.number_to(expr, &to)),
            (Type::InfInt, Type::New(_)) if is_number(constant::underlying(&to)) => {
                Ok(self.number_to(expr, &to))
            }
            (Type::SerializableEnum(e), _) if e.underlying.as_ref() == Some(&to) => {
                Ok(self.enum_as_number(expr))
            }
            (Type::Tuple(_), _) | (Type::Struct(_), _)
                if matches!(expr.kind, ExprKind::Aggregate(_)) =>
            {
                self.convert_literal(expr, &to)
            }
            _ => {
                // Types that contain don't-cares match without being equal.
                if self.fits_loosely(&expr.ty, &to) { Ok(expr) } else { Err(expr) }
            }
        }
    }

    /// True if the types differ only where one of them is unspecified.
    fn fits_loosely(&self, from: &Type, to: &Type) -> bool {
        let all = |a: &[Type], b: &[Type]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.fits_loosely(a, b))
        };
        match (from, to) {
            (Type::Unknown, _) | (_, Type::Unknown) => true,
            (Type::Extern(i, a), Type::Extern(j, b)) => i == j && all(a, b),
            (Type::Package(i, a), Type::Package(j, b)) => i == j && all(a, b),
            (Type::Tuple(a), Type::Tuple(b)) => all(a, b),
            (Type::Stack(a, n), Type::Stack(b, m)) => n == m && self.fits_loosely(a, b),
            (Type::List(a), Type::List(b)) => self.fits_loosely(a, b),
            (Type::Struct(a), Type::Struct(b)) | (Type::Header(a), Type::Header(b)) => {
                a.declaration == b.declaration && all(&a.args, &b.args)
            }
            _ => from == to,
        }
    }

    /// A literal in braces as a struct, header, tuple, stack or list.
    fn convert_literal(&mut self, expr: Expr, to: &Type) -> Result<Expr, Expr> {
        let ExprKind::Aggregate(elements) = &expr.kind else { return Err(expr) };
        let types: Option<Vec<Type>> = match (&expr.ty, to) {
            (Type::Struct(from), Type::Struct(f) | Type::Header(f)) if from.name.is_empty() => {
                return self.convert_key_values(expr.clone(), &from.clone(), to, &f.clone());
            }
            (Type::Tuple(_), Type::Struct(f) | Type::Header(f)) => {
                Some(f.fields.iter().map(|field| field.ty.clone()).collect())
            }
            (Type::Tuple(_), Type::Tuple(types)) => Some(types.to_vec()),
            (Type::Tuple(_), Type::Stack(element, n)) if *n as usize == elements.len() => {
                Some(vec![(**element).clone(); *n as usize])
            }
            (Type::Tuple(_), Type::List(element)) => {
                Some(vec![(**element).clone(); elements.len()])
            }
            _ => None,
        };
        let Some(types) = types.filter(|types| types.len() == elements.len()) else {
            return Err(expr);
        };
        let mut made = Vec::with_capacity(elements.len());
        for (element, ty) in elements.iter().zip(&types) {
            match self.try_convert(element.clone(), ty) {
                Ok(element) => made.push(element),
                Err(_) => return Err(expr),
            }
        }
        Ok(typed(ExprKind::Aggregate(made), to.clone(), expr.span))
    }

    fn convert_key_values(
        &mut self,
        expr: Expr,
        from: &FieldsType,
        to: &Type,
        fields: &FieldsType,
    ) -> Result<Expr, Expr> {
        let ExprKind::Aggregate(elements) = &expr.kind else { return Err(expr) };
        if from.fields.len() != fields.fields.len() {
            return Err(expr);
        }
        let mut made = Vec::with_capacity(elements.len());
        for field in &fields.fields {
            let at = from.fields.iter().position(|given| given.name == field.name);
            let Some(element) = at.and_then(|at| elements.get(at)) else { return Err(expr) };
            match self.try_convert(element.clone(), &field.ty) {
                Ok(element) => made.push(element),
                Err(_) => return Err(expr),
            }
        }
        Ok(typed(ExprKind::Aggregate(made), to.clone(), expr.span))
    }

    /// The expression as a value of type `to`; reports an error if there is no cast. `what` names
    /// the use, and `declared` the declaration of the expected type.
    pub(super) fn convert(
        &mut self,
        expr: Expr,
        to: &Type,
        what: &str,
        declared: Option<Span>,
    ) -> Expr {
        match self.try_convert(expr, to) {
            Ok(expr) => expr,
            Err(expr) => {
                self.mismatch(&expr, to, what, declared);
                broken(expr.span)
            }
        }
    }

    /// Reports that a value has the wrong type.
    pub(super) fn mismatch(&mut self, expr: &Expr, to: &Type, what: &str, declared: Option<Span>) {
        let (wanted, found) = (self.show(to), self.show(&expr.ty));
        let message = format!("{what}: expected `{wanted}`, found `{found}`");
        let mut diagnostic = Diagnostic::error(code::MISMATCH, expr.span, message)
            .with_label(format!("this is `{found}`"));
        if let Some(declared) = declared.filter(|span| !span.is_dummy()) {
            diagnostic = diagnostic.with_place(declared, format!("`{wanted}` is wanted here"));
        }
        if can_cast(&expr.ty, &self.resolved(to)) {
            diagnostic = diagnostic.with_help(format!("a cast is possible: `({wanted})`"));
        }
        self.report(diagnostic);
    }

    /// `(T) e`
    pub(super) fn cast(&mut self, written: &TypeRef, operand: &ast::Expr, span: Span) -> Expr {
        let to = self.resolve_type_with(written, DontCare::Refuse);
        let operand = self.expr(operand, Some(&to));
        if to == Type::Unknown || operand.ty == Type::Unknown {
            return broken(span);
        }
        if is_cast_target(&to)
            && let Some(expr) = self.cast_value(operand.clone(), &to, span)
        {
            return expr;
        }
        let (from, shown) = (self.show(&operand.ty), self.show(&to));
        let message = format!("`{from}` cannot be cast to `{shown}`");
        let mut diagnostic = Diagnostic::error(code::BAD_CAST, span, message)
            .with_place(operand.span, format!("this is `{from}`"));
        if let (Type::Bit(_) | Type::Int(_), Type::Bit(_) | Type::Int(_)) = (&operand.ty, &to) {
            let help = "sign and width cannot change in one step; cast twice";
            diagnostic = diagnostic.with_help(help);
        }
        self.report(diagnostic);
        broken(span)
    }

    fn cast_value(&mut self, operand: Expr, to: &Type, span: Span) -> Option<Expr> {
        let operand = match self.try_convert(operand, to) {
            Ok(expr) => return Some(Expr { span, ..expr }),
            Err(expr) => expr,
        };
        if !can_cast(&operand.ty, to) {
            return None;
        }
        let ExprKind::Const(value) = &operand.kind else {
            return Some(typed(ExprKind::Cast(Box::new(operand)), to.clone(), span));
        };
        if let (Value::Int(n), Type::Bool) = (value, constant::underlying(to))
            && (n.is_negative() || n.bits() > 1)
        {
            return None;
        }
        let value = constant::cast(value, to)?;
        Some(typed(ExprKind::Const(value), to.clone(), span))
    }

    /// `{#}`
    pub(super) fn invalid_header(&mut self, expected: Option<&Type>, span: Span) -> Expr {
        match expected.map(|ty| self.resolved(ty)) {
            Some(ty @ (Type::Header(_) | Type::HeaderUnion(_))) => {
                typed(ExprKind::InvalidHeader, ty, span)
            }
            Some(Type::Unknown) => broken(span),
            Some(other) => {
                let message = format!("`{{#}}` is an invalid header, not `{}`", self.show(&other));
                self.error(code::MISMATCH, span, message);
                broken(span)
            }
            None => {
                let diagnostic = Diagnostic::error(
                    code::CANNOT_INFER,
                    span,
                    "the type of `{#}` is not known here",
                );
                self.report(diagnostic.with_help("write it with a cast: `(T) {#}`"));
                broken(span)
            }
        }
    }
}

/// A number with a width.
fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Bit(_) | Type::Int(_))
}

/// The types that a cast may name.
fn is_cast_target(ty: &Type) -> bool {
    !matches!(
        ty,
        Type::Void
            | Type::MatchKind
            | Type::Extern(..)
            | Type::Parser(_)
            | Type::Control(_)
            | Type::Package(..)
            | Type::Set(_)
            | Type::TableResult(_)
    )
}

/// True if a written cast may change the one type into the other.
fn can_cast(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::Bit(1), Type::Bool) | (Type::Bool, Type::Bit(1)) => true,
        (Type::InfInt, Type::Bool | Type::Bit(_) | Type::Int(_)) => true,
        (Type::Bit(_) | Type::Int(_), Type::InfInt) => true,
        (Type::Bit(a), Type::Int(b)) | (Type::Int(a), Type::Bit(b)) => a == b,
        (Type::Bit(_), Type::Bit(_)) | (Type::Int(_), Type::Int(_)) => true,
        (Type::SerializableEnum(e), Type::SerializableEnum(f)) if e == f => true,
        (Type::SerializableEnum(e), _) => {
            e.underlying.as_ref().is_some_and(|u| u == to || can_cast(u, to))
        }
        (_, Type::SerializableEnum(e)) => {
            e.underlying.as_ref().is_some_and(|u| u == from || can_cast(from, u))
        }
        (Type::New(a), Type::New(b)) if a == b => true,
        (Type::New(new), _) if new.target == *to => true,
        (_, Type::New(new)) if new.target == *from => true,
        (Type::InfInt, Type::New(new)) => can_cast(from, &new.target),
        (Type::New(new), _) => can_cast(&new.target, to),
        _ => false,
    }
}

/// An anonymous struct: the type of a `{ k = v }` without a declared type.
pub(super) fn anonymous(fields: Vec<crate::types::FieldType>, span: Span) -> Type {
    Type::Struct(Arc::new(FieldsType {
        declaration: crate::types::DeclarationId(0),
        name: Arc::from(""),
        args: fields.iter().map(|field| field.ty.clone()).collect(),
        fields,
        annotations: Arc::from([]),
        span,
    }))
}
