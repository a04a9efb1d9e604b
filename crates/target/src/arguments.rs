//! Constructor arguments of extern objects, as the numbers and names that externs need.
//!
//! The checker has already compared types; the remaining errors are a range that only the target
//! has, or an argument that is not a constant of the program.

use num_bigint::{BigInt, BigUint};
use sojourn_p4::ir::{Const, Object, ObjectArg, ObjectId, Scalar};
use thiserror::Error;

/// Error in an argument: a clause about it, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ArgumentError(pub String);

/// The argument of the parameter `name`.
fn argument<'o>(object: &'o Object, name: &str) -> Option<&'o ObjectArg> {
    object.args.iter().find(|(known, _)| &**known == name).map(|(_, arg)| arg)
}

/// The constant given for the parameter `name`; `None` if it is missing or an object.
pub fn constant<'o>(object: &'o Object, name: &str) -> Option<&'o Const> {
    match argument(object, name)? {
        ObjectArg::Const(value) => Some(value),
        ObjectArg::Object(_) | ObjectArg::Absent => None,
    }
}

/// The object given for the parameter `name`.
pub fn object_argument(object: &Object, name: &str) -> Option<ObjectId> {
    match argument(object, name)? {
        ObjectArg::Object(id) => Some(*id),
        ObjectArg::Const(_) | ObjectArg::Absent => None,
    }
}

/// The first argument that is an object.
pub fn first_object(object: &Object) -> Option<ObjectId> {
    object.args.iter().find_map(|(_, arg)| match arg {
        ObjectArg::Object(id) => Some(*id),
        _ => None,
    })
}

/// The number of a constant, negative if its type is signed and its value is.
pub fn number(value: &Const) -> Option<BigInt> {
    match value {
        Const::Scalar(Scalar::Int(width), pattern) => {
            let value = BigInt::from(pattern.clone());
            let negative = *width > 0 && pattern.bit(u64::from(*width) - 1);
            Some(if negative { value - (BigInt::from(1) << *width) } else { value })
        }
        Const::Scalar(_, pattern) => Some(BigInt::from(pattern.clone())),
        Const::Int(value) => Some(value.clone()),
        _ => None,
    }
}

/// The number given for `name`, in the range of `T`.
pub fn integer<T: TryFrom<BigInt>>(object: &Object, name: &str) -> Result<T, ArgumentError> {
    let value = constant(object, name).and_then(number);
    let value = value.ok_or_else(|| ArgumentError(format!("`{name}` is not a known number")))?;
    let text = value.to_string();
    T::try_from(value).map_err(|_| ArgumentError(format!("`{name}` is {text}, out of range")))
}

/// The boolean given for `name`.
pub fn boolean(object: &Object, name: &str) -> Result<bool, ArgumentError> {
    match constant(object, name) {
        Some(Const::Scalar(Scalar::Bool, pattern)) => Ok(*pattern != BigUint::ZERO),
        _ => Err(ArgumentError(format!("`{name}` is not a known bool"))),
    }
}

/// The name of the enum member given for `name`.
pub fn member<'o>(object: &'o Object, name: &str) -> Result<&'o str, ArgumentError> {
    match constant(object, name) {
        Some(Const::EnumMember(_, member)) => Ok(member),
        _ => Err(ArgumentError(format!("`{name}` is not a known enum member"))),
    }
}
