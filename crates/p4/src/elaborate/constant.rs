//! Values known during elaboration: constructor arguments and everything that depends on them.
//!
//! The checker has folded the other constants; the rest depends on constructor parameters.

use super::components::{part_types, scalar};
use super::{Binding, Elaborator, plain};
use crate::ast::{BinaryOp, UnaryOp};
use crate::check::constant as fold;
use crate::hir::{self, Expr, ExprKind};
use crate::interp::arith;
use crate::ir::{Const, Scalar};
use crate::source::Span;
use crate::types::Type;
use num_bigint::{BigInt, BigUint};
use num_traits::{ToPrimitive, Zero};
use std::sync::Arc;

/// A known value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Constant {
    Bool(bool),
    /// A number in the range of its type; enum members and errors by the checker's numbers.
    Int(BigInt),
    String(Arc<str>),
    /// A struct, valid header, tuple, list or stack.
    Aggregate(Vec<Constant>),
    /// An invalid header or union.
    Invalid,
}

impl Constant {
    pub fn new(value: &hir::Value) -> Constant {
        match value {
            hir::Value::Bool(value) => Constant::Bool(*value),
            hir::Value::Int(value) => Constant::Int(value.clone()),
            hir::Value::String(text) => Constant::String(text.clone()),
        }
    }

    fn int(&self) -> Option<BigInt> {
        match self {
            Constant::Int(value) => Some(value.clone()),
            Constant::Bool(value) => Some(BigInt::from(u8::from(*value))),
            _ => None,
        }
    }

    /// The bit patterns of all its scalars, in order.
    pub fn patterns(&self, ty: &Type, out: &mut Vec<BigUint>) {
        match self {
            Constant::Aggregate(items) => {
                let types = part_types(ty);
                for (at, item) in items.iter().enumerate() {
                    item.patterns(&types(at).unwrap_or(Type::InfInt), out);
                }
            }
            other => {
                if let Some(number) = other.int() {
                    let width = scalar(ty).map_or(128, Scalar::width);
                    out.push(arith::pattern(&number, width));
                }
            }
        }
    }

    /// The value as a constant of the IR.
    pub fn constant(&self, ty: &Type) -> Const {
        match (plain(ty), self) {
            (_, Constant::String(text)) => Const::String(text.clone()),
            (Type::Enum(of), Constant::Int(index)) => {
                let index = index.to_u32().unwrap_or(u32::MAX);
                let name = of.members.get(index as usize).map(|(name, _)| name.clone());
                Const::EnumMember(index, name.unwrap_or_else(|| "".into()))
            }
            (_, Constant::Aggregate(items)) => {
                let types = part_types(ty);
                let items = items.iter().enumerate();
                let items =
                    items.map(|(at, item)| item.constant(&types(at).unwrap_or(Type::InfInt)));
                Const::Aggregate(items.collect())
            }
            (_, Constant::Invalid) => Const::Aggregate(Vec::new()),
            (_, Constant::Bool(value)) => {
                Const::Scalar(Scalar::Bool, BigUint::from(u8::from(*value)))
            }
            (_, Constant::Int(number)) => match scalar(ty) {
                Some(scalar) => Const::Scalar(scalar, arith::pattern(number, scalar.width())),
                None => Const::Int(number.clone()),
            },
        }
    }
}

/// A number reduced to a type: modulo 2^W, read as signed if the type is.
fn wrapped(value: BigInt, ty: &Type) -> BigInt {
    match scalar(ty) {
        Some(scalar) => arith::number(scalar, &arith::pattern(&value, scalar.width())),
        None => value,
    }
}

impl Elaborator<'_> {
    /// The value of an expression, if it is known.
    pub(super) fn known(&self, expr: &Expr) -> Option<Constant> {
        match &expr.kind {
            ExprKind::Const(value) => Some(Constant::new(value)),
            ExprKind::Var(id) => match self.bindings.get(id)? {
                Binding::Constant(known) => Some(known.clone()),
                _ => None,
            },
            ExprKind::Aggregate(items) => items
                .iter()
                .map(|item| self.known(item))
                .collect::<Option<_>>()
                .map(Constant::Aggregate),
            ExprKind::InvalidHeader => Some(Constant::Invalid),
            ExprKind::Field(base, at) => match self.known(base)? {
                Constant::Aggregate(items) => items.get(*at as usize).cloned(),
                _ => None,
            },
            ExprKind::Index(base, at) => match (self.known(base)?, self.known(at)?.int()?) {
                (Constant::Aggregate(items), at) => items.get(at.to_usize()?).cloned(),
                _ => None,
            },
            ExprKind::IsValid(base) => match self.known(base)? {
                Constant::Aggregate(_) => Some(Constant::Bool(true)),
                Constant::Invalid => Some(Constant::Bool(false)),
                _ => None,
            },
            ExprKind::Slice(base, high, low) => {
                let scalar = scalar(&base.ty);
                let value = self.known(base)?.int()?;
                let pattern = scalar.map_or_else(
                    || value.to_biguint().unwrap_or_default(),
                    |scalar| arith::pattern(&value, scalar.width()),
                );
                let width = high.checked_sub(*low)? + 1;
                Some(Constant::Int(BigInt::from((pattern >> *low) & arith::wide_mask(width))))
            }
            ExprKind::Unary(op, base) => self.known_unary(*op, &self.known(base)?, &expr.ty),
            ExprKind::Binary(op, a, b) => self.known_binary(*op, a, b, &expr.ty),
            ExprKind::Mux(condition, a, b) => match self.known(condition)? {
                Constant::Bool(true) => self.known(a),
                Constant::Bool(false) => self.known(b),
                _ => None,
            },
            ExprKind::Cast(base) => self.known_cast(self.known(base)?, &expr.ty),
            _ => None,
        }
    }

    fn known_cast(&self, value: Constant, ty: &Type) -> Option<Constant> {
        Some(match (plain(ty), value) {
            (Type::Bool, value) => Constant::Bool(!value.int()?.is_zero()),
            (_, value @ (Constant::Aggregate(_) | Constant::Invalid | Constant::String(_))) => {
                value
            }
            (_, value) => Constant::Int(wrapped(value.int()?, ty)),
        })
    }

    fn known_unary(&self, op: UnaryOp, value: &Constant, ty: &Type) -> Option<Constant> {
        Some(match (op, value) {
            (UnaryOp::Not, Constant::Bool(value)) => Constant::Bool(!value),
            (UnaryOp::Complement, value) => Constant::Int(wrapped(!value.int()?, ty)),
            (UnaryOp::Negate, value) => Constant::Int(wrapped(-value.int()?, ty)),
            (UnaryOp::Plus, value) => value.clone(),
            _ => return None,
        })
    }

    fn known_binary(&self, op: BinaryOp, a: &Expr, b: &Expr, ty: &Type) -> Option<Constant> {
        let x = self.known(a)?;
        // A short-circuit operation is known if its left operand decides it.
        match (op, &x) {
            (BinaryOp::And, Constant::Bool(false)) => return Some(Constant::Bool(false)),
            (BinaryOp::Or, Constant::Bool(true)) => return Some(Constant::Bool(true)),
            _ => {}
        }
        let y = self.known(b)?;
        match op {
            BinaryOp::Eq => return Some(Constant::Bool(x == y)),
            BinaryOp::Ne => return Some(Constant::Bool(x != y)),
            BinaryOp::And | BinaryOp::Or => return Some(y),
            _ => {}
        }
        let (x, y) = (hir::Value::Int(x.int()?), hir::Value::Int(y.int()?));
        let (left, right) = (plain(&a.ty), plain(&b.ty));
        let folded = fold::binary(op, (&x, left), (&y, right)).ok().flatten()?;
        Some(match Constant::new(&folded) {
            Constant::Int(value) => Constant::Int(wrapped(value, ty)),
            other => other,
        })
    }

    /// The value of an expression that must be known; reports an error and returns `None` if it is
    /// not.
    pub(super) fn must_know(&mut self, expr: &Expr, what: &str) -> Option<Constant> {
        let known = self.known(expr);
        if known.is_none() {
            self.not_known(expr.span, what);
        }
        known
    }

    fn not_known(&mut self, span: Span, what: &str) {
        let diagnostic = crate::diagnostic::Diagnostic::error(
            "E1305",
            span,
            format!("{what} must be known when the program is loaded"),
        )
        .with_label("depends on something that is only known at run time");
        self.report(diagnostic);
    }
}
