//! Sizes of types on the wire, in bits (specification 9), and default values (specification 7.3).

use super::Checker;
use crate::hir::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::Type;
use num_bigint::BigInt;

/// Minimum and maximum width of a value of the type on the wire, in bits; `None` if it has no wire
/// format.
pub(super) fn bits(ty: &Type) -> Option<(u64, u64)> {
    match ty {
        Type::Bit(w) | Type::Int(w) => Some((u64::from(*w), u64::from(*w))),
        Type::VarBit(w) => Some((0, u64::from(*w))),
        Type::Bool => Some((1, 1)),
        Type::SerializableEnum(e) => e.underlying.as_ref().and_then(bits),
        Type::New(new) => bits(&new.target),
        Type::Struct(f) | Type::Header(f) => sum(f.fields.iter().map(|f| &f.ty)),
        Type::Tuple(elements) => sum(elements.iter()),
        Type::HeaderUnion(f) => f.fields.iter().try_fold((0, 0), |(least, most), field| {
            let (a, b) = bits(&field.ty)?;
            Some((least.max(a), most.max(b)))
        }),
        Type::Stack(element, n) => {
            let (least, most) = bits(element)?;
            Some((least.checked_mul(u64::from(*n))?, most.checked_mul(u64::from(*n))?))
        }
        _ => None,
    }
}

fn sum<'t>(types: impl Iterator<Item = &'t Type>) -> Option<(u64, u64)> {
    types.map(bits).try_fold((0u64, 0u64), |(least, most), size| {
        let (a, b) = size?;
        Some((least.checked_add(a)?, most.checked_add(b)?))
    })
}

impl Checker<'_> {
    /// The default value of a type; `None` if it has none.
    pub(super) fn default_value(&self, ty: &Type, span: Span) -> Option<Expr> {
        let ty = self.resolved(ty);
        let all = |types: &[&Type]| {
            let values = types.iter().map(|ty| self.default_value(ty, span));
            Some(ExprKind::Aggregate(values.collect::<Option<Vec<_>>>()?))
        };
        let zero = || ExprKind::Const(Value::Int(BigInt::from(0)));
        let kind = match &ty {
            Type::Bool => ExprKind::Const(Value::Bool(false)),
            Type::String => ExprKind::Const(Value::String("".into())),
            Type::Bit(_) | Type::Int(_) | Type::VarBit(_) | Type::InfInt => zero(),
            Type::Enum(_) | Type::SerializableEnum(_) => zero(),
            Type::Error => {
                let index = self.program.errors.iter().position(|e| &**e == "NoError")?;
                ExprKind::Const(Value::Int(BigInt::from(index)))
            }
            Type::New(new) => self.default_value(&new.target, span)?.kind,
            Type::Header(_) | Type::HeaderUnion(_) => ExprKind::InvalidHeader,
            Type::Struct(f) => all(&f.fields.iter().map(|f| &f.ty).collect::<Vec<_>>())?,
            Type::Tuple(elements) => all(&elements.iter().collect::<Vec<_>>())?,
            Type::Stack(element, n) if *n <= 1 << 16 => all(&vec![&**element; *n as usize])?,
            Type::Unknown => ExprKind::Const(Value::Bool(false)),
            _ => return None,
        };
        Some(Expr { kind, ty, span })
    }
}
