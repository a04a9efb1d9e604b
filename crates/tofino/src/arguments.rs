//! Constructor arguments that only TNA's externs have; the others are in [`sojourn_target::arguments`].

pub use sojourn_target::arguments::*;

use crate::math_unit::{Exponent, MathOp, MathUnit, ScaleCapped};
use num_traits::ToPrimitive;
use sojourn_p4::ir::{Const, Object};

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
