//! Operand: the entity that an expression denotes, and constructors of typed expressions for this
//! folder.
//!
//! Depends on the typed tree alone; it must not depend on how an expression is checked.

use super::scope::{FunctionRef, TypeEntity};
use crate::hir::{ActionId, Expr, ExprKind, Object, TableId, Value};
use crate::source::Span;
use crate::types::Type;
use num_bigint::BigInt;
use std::rc::Rc;

/// The entity that an expression denotes.
pub(super) enum Operand {
    /// A value; its type is `void` if it is a call without result.
    Value(Expr),
    /// An instance or a parameter that holds one.
    Object(Object, Type),
    /// A type.
    Type(TypeEntity),
    /// A type with its arguments.
    Applied(Type),
    /// A table.
    Table(TableId),
    /// Result of `t.apply()`.
    TableResult(TableId),
    /// Functions of one name.
    Functions(Rc<[FunctionRef]>),
    /// An action.
    Action(ActionId),
    /// A value set.
    ValueSet,
    /// An error that is already reported.
    Broken,
}

/// A typed expression.
pub(super) fn typed(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

/// Placeholder after a reported error: matches every type.
pub(super) fn broken(span: Span) -> Expr {
    typed(ExprKind::Const(Value::Bool(false)), Type::Unknown, span)
}

/// A known integer.
pub(super) fn integer(value: impl Into<BigInt>, ty: Type, span: Span) -> Expr {
    typed(ExprKind::Const(Value::Int(value.into())), ty, span)
}

/// A known truth value.
pub(super) fn boolean(value: bool, span: Span) -> Expr {
    typed(ExprKind::Const(Value::Bool(value)), Type::Bool, span)
}

/// True if the value is known from the expression's own scope (specification 18.1).
pub(super) fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::InvalidHeader => true,
        ExprKind::Aggregate(elements) => elements.iter().all(is_constant),
        _ => expr.ty == Type::Unknown,
    }
}
