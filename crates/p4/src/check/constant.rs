//! Arithmetic on values known at compile time, at any width up to [`MAX_WIDTH`].
//!
//! Pure functions on numbers and widths. Checker and elaboration fold with the same functions, so
//! both have the same limit. Must not depend on expressions, nor on error messages beyond a
//! [`FoldError`].

use crate::ast::{BinaryOp, UnaryOp};
use crate::hir::Value;
use crate::types::{MAX_WIDTH, Type};
use num_bigint::{BigInt, Sign};
use num_traits::{Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

/// Reason why an operation on known values has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FoldError {
    /// `x / 0`
    #[error("division by zero")]
    DivisionByZero,
    /// `-4 / 2`
    #[error("division and modulo are not defined for negative numbers")]
    NegativeDivision,
    /// `x << -1`
    #[error("shift by a negative amount")]
    NegativeShift,
    /// More than [`MAX_WIDTH`] bits.
    #[error("the result has more than {MAX_WIDTH} bits")]
    TooLarge,
}

/// 2^bits
pub(super) fn power_of_two(bits: u32) -> BigInt {
    BigInt::from(1) << bits
}

/// The lowest `width` bits of a number's two's complement, as `bit<width>`.
pub(super) fn unsigned(value: &BigInt, width: u32) -> BigInt {
    let mask = power_of_two(width) - 1;
    value & mask
}

/// The lowest `width` bits of a number's two's complement, as `int<width>`.
pub(super) fn signed(value: &BigInt, width: u32) -> BigInt {
    let low = unsigned(value, width);
    if width > 0 && low.bit(u64::from(width) - 1) { low - power_of_two(width) } else { low }
}

/// The type underneath enums with representation and new types.
pub(super) fn underlying(ty: &Type) -> &Type {
    match ty {
        Type::SerializableEnum(e) => e.underlying.as_ref().map_or(ty, underlying),
        Type::New(n) => underlying(&n.target),
        other => other,
    }
}

/// A number reduced to the range of its type.
pub(super) fn wrap(value: &BigInt, ty: &Type) -> BigInt {
    match underlying(ty) {
        Type::Bit(width) | Type::VarBit(width) => unsigned(value, *width),
        Type::Int(width) => signed(value, *width),
        _ => value.clone(),
    }
}

/// True if the number is a value of the type.
pub(super) fn fits(value: &BigInt, ty: &Type) -> bool {
    wrap(value, ty) == *value
}

/// The nearest value of the type: saturating arithmetic.
fn saturate(value: BigInt, ty: &Type) -> BigInt {
    let (low, high) = match ty {
        Type::Bit(width) => (BigInt::zero(), power_of_two(*width) - 1),
        Type::Int(width) if *width > 0 => (-power_of_two(*width - 1), power_of_two(*width - 1) - 1),
        _ => return value,
    };
    value.clamp(low, high)
}

/// A unary operation on a value of type `ty`.
pub(super) fn unary(op: UnaryOp, value: &Value, ty: &Type) -> Option<Value> {
    Some(match (op, value) {
        (UnaryOp::Not, Value::Bool(b)) => Value::Bool(!b),
        (UnaryOp::Plus, Value::Int(n)) => Value::Int(n.clone()),
        (UnaryOp::Negate, Value::Int(n)) => Value::Int(wrap(&-n, ty)),
        (UnaryOp::Complement, Value::Int(n)) => Value::Int(wrap(&(-n - 1), ty)),
        _ => return None,
    })
}

/// A binary operation on values of types `left_ty` and `right_ty`; `None` if not defined.
pub(crate) fn binary(
    op: BinaryOp,
    (left, left_ty): (&Value, &Type),
    (right, right_ty): (&Value, &Type),
) -> Result<Option<Value>, FoldError> {
    match (left, right) {
        (Value::Bool(a), Value::Bool(b)) => Ok(booleans(op, *a, *b).map(Value::Bool)),
        (Value::String(a), Value::String(b)) => Ok(match op {
            BinaryOp::Concat => Some(Value::String(format!("{a}{b}").into())),
            BinaryOp::Eq => Some(Value::Bool(a == b)),
            BinaryOp::Ne => Some(Value::Bool(a != b)),
            _ => None,
        }),
        (Value::Int(a), Value::Int(b)) => {
            if let Some(truth) = comparison(op, a.cmp(b)) {
                return Ok(Some(Value::Bool(truth)));
            }
            if op == BinaryOp::Concat {
                return Ok(concat((a, left_ty), (b, right_ty)).map(Value::Int));
            }
            Ok(arithmetic(op, a, b, left_ty)?.map(Value::Int))
        }
        _ => Ok(None),
    }
}

fn booleans(op: BinaryOp, a: bool, b: bool) -> Option<bool> {
    Some(match op {
        BinaryOp::And => a && b,
        BinaryOp::Or => a || b,
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        _ => return None,
    })
}

fn comparison(op: BinaryOp, order: Ordering) -> Option<bool> {
    Some(match op {
        BinaryOp::Lt => order.is_lt(),
        BinaryOp::Le => order.is_le(),
        BinaryOp::Gt => order.is_gt(),
        BinaryOp::Ge => order.is_ge(),
        BinaryOp::Eq => order.is_eq(),
        BinaryOp::Ne => order.is_ne(),
        _ => return None,
    })
}

/// The left operand's bits above the right one's; the sign is the left operand's.
fn concat((a, a_ty): (&BigInt, &Type), (b, b_ty): (&BigInt, &Type)) -> Option<BigInt> {
    let (Type::Bit(m) | Type::Int(m)) = a_ty else { return None };
    let (Type::Bit(n) | Type::Int(n)) = b_ty else { return None };
    let width = m.checked_add(*n)?;
    let bits = (unsigned(a, *m) << *n) | unsigned(b, *n);
    Some(if matches!(a_ty, Type::Int(_)) { signed(&bits, width) } else { bits })
}

fn arithmetic(
    op: BinaryOp,
    a: &BigInt,
    b: &BigInt,
    ty: &Type,
) -> Result<Option<BigInt>, FoldError> {
    let exact = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => {
            bounded(a.bits().checked_add(b.bits()), ty)?;
            a * b
        }
        BinaryOp::Div | BinaryOp::Mod if b.is_zero() => return Err(FoldError::DivisionByZero),
        BinaryOp::Div | BinaryOp::Mod if a.is_negative() || b.is_negative() => {
            return Err(FoldError::NegativeDivision);
        }
        BinaryOp::Div => a / b,
        BinaryOp::Mod => a % b,
        BinaryOp::SatAdd => return Ok(Some(saturate(a + b, ty))),
        BinaryOp::SatSub => return Ok(Some(saturate(a - b, ty))),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Shl | BinaryOp::Shr if b.is_negative() => return Err(FoldError::NegativeShift),
        BinaryOp::Shl => shift_left(a, b, ty)?,
        BinaryOp::Shr => shift_right(a, b),
        _ => return Ok(None),
    };
    bounded(Some(exact.bits()), ty)?;
    Ok(Some(wrap(&exact, ty)))
}

fn shift_left(a: &BigInt, by: &BigInt, ty: &Type) -> Result<BigInt, FoldError> {
    if a.is_zero() {
        return Ok(BigInt::zero());
    }
    if let Type::Bit(width) | Type::Int(width) = ty
        && *by >= BigInt::from(*width)
    {
        return Ok(BigInt::zero());
    }
    let by = by.to_u64().ok_or(FoldError::TooLarge)?;
    bounded(by.checked_add(a.bits()), ty)?;
    Ok(a << by)
}

/// Rejects a number without a width that has more than [`MAX_WIDTH`] bits. A number with a width is
/// cut to it.
fn bounded(bits: Option<u64>, ty: &Type) -> Result<(), FoldError> {
    match (ty, bits) {
        (Type::Bit(_) | Type::Int(_), Some(_)) => Ok(()),
        (_, Some(bits)) if bits <= MAX_WIDTH.into() => Ok(()),
        _ => Err(FoldError::TooLarge),
    }
}

/// Rounds towards minus infinity, as an arithmetic shift does.
fn shift_right(a: &BigInt, by: &BigInt) -> BigInt {
    match by.to_u64() {
        Some(by) if by <= a.bits() => a >> by,
        _ if a.sign() == Sign::Minus => BigInt::from(-1),
        _ => BigInt::zero(),
    }
}

/// Bits `low..=high` of a number's two's complement.
pub(super) fn slice(value: &BigInt, high: u32, low: u32) -> BigInt {
    unsigned(&(value >> low), high - low + 1)
}

/// A known value cast to another type; `None` if there is no such cast.
pub(super) fn cast(value: &Value, to: &Type) -> Option<Value> {
    match (value, underlying(to)) {
        (Value::Bool(b), Type::Bool) => Some(Value::Bool(*b)),
        (Value::Bool(b), Type::Bit(_) | Type::Int(_)) => Some(Value::Int(BigInt::from(*b))),
        (Value::Int(n), Type::Bool) => Some(Value::Bool(!n.is_zero())),
        (Value::Int(n), _) => Some(Value::Int(wrap(n, to))),
        (Value::String(s), _) => Some(Value::String(s.clone())),
        (Value::Bool(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(n: i64) -> Value {
        Value::Int(BigInt::from(n))
    }

    fn folded(op: BinaryOp, a: i64, b: i64, ty: &Type) -> Result<Option<Value>, FoldError> {
        binary(op, (&int(a), ty), (&int(b), ty))
    }

    #[test]
    fn addition_wraps_at_the_width_of_the_type() {
        assert_eq!(folded(BinaryOp::Add, 250, 10, &Type::Bit(8)), Ok(Some(int(4))));
        assert_eq!(folded(BinaryOp::Add, 127, 1, &Type::Int(8)), Ok(Some(int(-128))));
        assert_eq!(folded(BinaryOp::Add, 250, 10, &Type::InfInt), Ok(Some(int(260))));
    }

    #[test]
    fn saturating_operations_stop_at_the_ends_of_the_type() {
        assert_eq!(folded(BinaryOp::SatAdd, 250, 10, &Type::Bit(8)), Ok(Some(int(255))));
        assert_eq!(folded(BinaryOp::SatSub, 5, 10, &Type::Bit(8)), Ok(Some(int(0))));
        assert_eq!(folded(BinaryOp::SatSub, -100, 100, &Type::Int(8)), Ok(Some(int(-128))));
    }

    #[test]
    fn a_right_shift_of_a_negative_number_keeps_the_sign() {
        assert_eq!(folded(BinaryOp::Shr, -5, 1, &Type::Int(8)), Ok(Some(int(-3))));
        assert_eq!(folded(BinaryOp::Shr, -5, 1000, &Type::InfInt), Ok(Some(int(-1))));
    }

    #[test]
    fn shifting_out_all_bits_leaves_zero_however_far() {
        let far = i64::MAX;
        assert_eq!(folded(BinaryOp::Shl, 1, far, &Type::Bit(8)), Ok(Some(int(0))));
        assert_eq!(folded(BinaryOp::Shl, 1, far, &Type::InfInt), Err(FoldError::TooLarge));
    }

    #[test]
    fn no_amount_shifts_a_number_beyond_the_widest_type() {
        let shifted = |a: i64, by: u128| {
            let by = Value::Int(BigInt::from(by));
            binary(BinaryOp::Shl, (&int(a), &Type::InfInt), (&by, &Type::InfInt))
        };
        let edge = u128::from(u64::MAX);
        for by in [MAX_WIDTH.into(), edge - 64, edge - 1, edge, edge + 1, u128::MAX] {
            for a in [1, -1, i64::MAX] {
                assert_eq!(shifted(a, by), Err(FoldError::TooLarge), "{a} << {by}");
            }
        }
        let widest = shifted(1, u128::from(MAX_WIDTH) - 1);
        assert_eq!(widest, Ok(Some(Value::Int(power_of_two(MAX_WIDTH - 1)))));
    }

    #[test]
    fn products_and_sums_have_the_same_limit_as_shifts() {
        let widest = Value::Int(power_of_two(MAX_WIDTH - 1));
        for op in [BinaryOp::Mul, BinaryOp::Add] {
            let folded = binary(op, (&widest, &Type::InfInt), (&widest, &Type::InfInt));
            assert_eq!(folded, Err(FoldError::TooLarge), "{op:?}");
        }
        let typed = Type::Bit(MAX_WIDTH);
        assert_eq!(binary(BinaryOp::Mul, (&widest, &typed), (&widest, &typed)), Ok(Some(int(0))));
    }

    #[test]
    fn concatenation_takes_the_sign_of_its_left_side() {
        let (left, right) = ((&int(-1), &Type::Int(4)), (&int(3), &Type::Bit(4)));
        assert_eq!(binary(BinaryOp::Concat, left, right), Ok(Some(int(-13))));
        let (left, right) = ((&int(3), &Type::Bit(4)), (&int(-1), &Type::Int(4)));
        assert_eq!(binary(BinaryOp::Concat, left, right), Ok(Some(int(0x3f))));
    }

    #[test]
    fn a_slice_of_a_negative_number_is_positive() {
        assert_eq!(slice(&BigInt::from(-1), 7, 4), BigInt::from(15));
    }

    #[test]
    fn division_refuses_zero_and_negative_numbers() {
        assert_eq!(folded(BinaryOp::Div, 1, 0, &Type::InfInt), Err(FoldError::DivisionByZero));
        let negative = Err(FoldError::NegativeDivision);
        assert_eq!(folded(BinaryOp::Mod, -1, 2, &Type::InfInt), negative);
    }

    #[test]
    fn the_complement_of_zero_is_all_ones() {
        let answer = unary(UnaryOp::Complement, &int(0), &Type::Bit(100));
        assert_eq!(answer, Some(Value::Int(power_of_two(100) - 1)));
    }
}
