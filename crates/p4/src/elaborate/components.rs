//! Decomposition of a type: a scalar, or components.
//!
//! Depends on the types alone; it must not depend on slots or values.

use super::plain;
use crate::ir::Scalar;
use crate::types::Type;

/// The scalar that a type is stored as, if it is one. `int` has none.
pub(super) fn scalar(ty: &Type) -> Option<Scalar> {
    match plain(ty) {
        Type::Bool => Some(Scalar::Bool),
        Type::Bit(width) => Some(Scalar::Bit(*width)),
        Type::Int(width) => Some(Scalar::Int(*width)),
        Type::Error | Type::Enum(_) | Type::MatchKind => Some(Scalar::Bit(32)),
        Type::SerializableEnum(of) => of.underlying.as_ref().and_then(scalar),
        _ => None,
    }
}

/// The types of a type's components, by index.
pub(super) fn part_types(ty: &Type) -> impl Fn(usize) -> Option<Type> + '_ {
    move |at| match plain(ty) {
        Type::Struct(of) | Type::Header(of) | Type::HeaderUnion(of) => {
            of.fields.get(at).map(|field| field.ty.clone())
        }
        Type::Tuple(types) => types.get(at).cloned(),
        Type::Stack(element, _) | Type::List(element) => Some((**element).clone()),
        _ => None,
    }
}
