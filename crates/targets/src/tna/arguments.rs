//! Constructor arguments of extern objects, as the numbers and names that externs want.
//!
//! The checker has already compared types; what can still be wrong is a range that only the chip
//! has, or an argument that is no constant of the program's.

use crate::tna::math_unit::{Exponent, MathOp, MathUnit, ScaleCapped};
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use sojourn_p4::ir::{Const, Object, ObjectArg, ObjectId, Scalar};
use thiserror::Error;

/// What is wrong with an argument: a clause about it, without a stop.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ArgumentError(pub String);

/// The argument of the parameter called `name`.
fn argument<'o>(object: &'o Object, name: &str) -> Option<&'o ObjectArg> {
    object.args.iter().find(|(known, _)| &**known == name).map(|(_, arg)| arg)
}

/// The constant given for the parameter `name`; none if it was left out or is an object.
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

/// The number behind a constant, negative if its type is signed and it is.
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

/// The math unit that a `MathUnit` object configures.
pub fn math_unit(object: &Object) -> Result<(MathUnit, Option<ScaleCapped>), ArgumentError> {
    if constant(object, "op").is_some() {
        return math_unit_of_operation(object);
    }
    let exponent = match integer::<i8>(object, "shift")? {
        -1 => Exponent::Half,
        0 => Exponent::Same,
        1 => Exponent::Double,
        other => return Err(ArgumentError(format!("`shift` is {other}; it is -1, 0 or 1"))),
    };
    let Some(Const::Aggregate(entries)) = constant(object, "data") else {
        return Err(ArgumentError("`data` is not a known tuple".into()));
    };
    let entries: Option<Vec<u8>> =
        entries.iter().map(|entry| number(entry).and_then(|value| value.to_u8())).collect();
    let entries = entries.ok_or_else(|| ArgumentError("`data` holds more than bytes".into()))?;
    let invert = boolean(object, "invert")?;
    Ok((MathUnit::from_tuple(invert, exponent, integer(object, "scale")?, &entries), None))
}

fn math_unit_of_operation(
    object: &Object,
) -> Result<(MathUnit, Option<ScaleCapped>), ArgumentError> {
    let name = member(object, "op")?;
    let op = MathOp::named(name).ok_or_else(|| ArgumentError(format!("`op` is {name}")))?;
    let positive = |name: &str| match integer::<u64>(object, name)? {
        0 => Err(ArgumentError(format!("`{name}` is 0"))),
        value => Ok(value as f64),
    };
    let factor = if constant(object, "factor").is_some() {
        positive("factor")?
    } else {
        positive("A")? / positive("B")?
    };
    Ok(MathUnit::from_operation(op, factor))
}
