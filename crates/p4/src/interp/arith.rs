//! The arithmetic of P4 on bit patterns, narrow (`u128`) and wide (`BigUint`), without any state.
//!
//! A value of width W is the W-bit pattern, zero-extended, signed or not (specification, chapter 8).
//! Dividing by zero gives 0 and the remainder of such a division is the dividend: the language
//! leaves both open at run time, and evaluation must not fail.

use crate::ir::{Binary, Scalar, Unary};
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, ToPrimitive, Zero};

/// The lowest `width` bits.
#[inline]
pub const fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The lowest `width` bits of any width.
pub fn wide_mask(width: u32) -> BigUint {
    (BigUint::one() << width) - BigUint::one()
}

/// The value of a W-bit two's complement pattern, W from 1 to 128.
#[inline]
pub const fn signed(pattern: u128, width: u32) -> i128 {
    if width == 0 {
        return 0;
    }
    let shift = 128 - width;
    ((pattern << shift) as i128) >> shift
}

/// The value of a two's complement pattern of any width.
pub fn wide_signed(pattern: &BigUint, width: u32) -> BigInt {
    let value = BigInt::from(pattern.clone());
    if width > 0 && pattern.bit(u64::from(width) - 1) {
        value - (BigInt::one() << width)
    } else {
        value
    }
}

/// The pattern of a number in `width` bits: modulo 2^W.
pub fn pattern(value: &BigInt, width: u32) -> BigUint {
    let modulus = BigInt::one() << width;
    let reduced = ((value % &modulus) + &modulus) % &modulus;
    reduced.to_biguint().unwrap_or_default()
}

/// The low 128 bits of a number.
pub fn narrowed(value: &BigUint) -> u128 {
    let mut digits = value.iter_u64_digits();
    let low = u128::from(digits.next().unwrap_or(0));
    low | u128::from(digits.next().unwrap_or(0)) << 64
}

/// A unary operation on a pattern of at most 128 bits.
#[inline]
pub fn unary(op: Unary, scalar: Scalar, a: u128) -> u128 {
    let mask = mask(scalar.width());
    match op {
        Unary::Not => (a ^ 1) & 1,
        Unary::Complement => !a & mask,
        Unary::Negate => a.wrapping_neg() & mask,
    }
}

/// A unary operation on a pattern of any width.
pub fn wide_unary(op: Unary, scalar: Scalar, a: &BigUint) -> BigUint {
    let width = scalar.width();
    match op {
        Unary::Not => a ^ BigUint::one(),
        Unary::Complement => wide_mask(width) ^ a,
        Unary::Negate => pattern(&-BigInt::from(a.clone()), width),
    }
}

/// A pattern cut or extended to another width: sign-extended if it was signed.
#[inline]
pub fn cast(from: Scalar, to: u32, a: u128) -> u128 {
    if from.is_signed() && to > from.width() {
        signed(a, from.width()) as u128 & mask(to)
    } else {
        a & mask(to)
    }
}

/// [`cast`] at any width.
pub fn wide_cast(from: Scalar, to: u32, a: &BigUint) -> BigUint {
    if from.is_signed() && to > from.width() {
        pattern(&wide_signed(a, from.width()), to)
    } else if to < from.width() {
        a & wide_mask(to)
    } else {
        a.clone()
    }
}

/// A binary operation. `scalar` is the left operand's (for all but shifts and concatenation also
/// the right one's), `right` the right operand's width. All widths, the result's too, are at most
/// 128.
#[inline]
pub fn binary(op: Binary, scalar: Scalar, right: u32, a: u128, b: u128) -> u128 {
    let width = scalar.width();
    let mask = mask(width);
    match op {
        Binary::Add => a.wrapping_add(b) & mask,
        Binary::Sub => a.wrapping_sub(b) & mask,
        Binary::Mul => a.wrapping_mul(b) & mask,
        Binary::BitAnd | Binary::And => a & b,
        Binary::BitOr | Binary::Or => a | b,
        Binary::BitXor => a ^ b,
        Binary::Eq => u128::from(a == b),
        Binary::Ne => u128::from(a != b),
        Binary::Lt => u128::from(less(scalar, a, b)),
        Binary::Ge => u128::from(!less(scalar, a, b)),
        Binary::Gt => u128::from(less(scalar, b, a)),
        Binary::Le => u128::from(!less(scalar, b, a)),
        Binary::Shl if b >= u128::from(width) => 0,
        Binary::Shl => (a << b) & mask,
        Binary::Shr => shift_right(scalar, a, b),
        Binary::Concat if right >= 128 => b,
        Binary::Concat => (a << right) | b,
        Binary::Div | Binary::Mod => divide(op, scalar, a, b),
        Binary::SatAdd | Binary::SatSub => saturate(op, scalar, a, b),
    }
}

#[inline]
fn less(scalar: Scalar, a: u128, b: u128) -> bool {
    match scalar {
        Scalar::Int(width) => signed(a, width) < signed(b, width),
        _ => a < b,
    }
}

#[inline]
fn shift_right(scalar: Scalar, a: u128, b: u128) -> u128 {
    match scalar {
        Scalar::Int(0) => 0,
        Scalar::Int(width) => {
            let by = b.min(u128::from(width) - 1) as u32;
            (signed(a, width) >> by.min(127)) as u128 & mask(width)
        }
        _ if b >= 128 => 0,
        _ => a >> b,
    }
}

fn divide(op: Binary, scalar: Scalar, a: u128, b: u128) -> u128 {
    let width = scalar.width();
    if b == 0 {
        return if op == Binary::Div { 0 } else { a };
    }
    match (scalar, op) {
        (Scalar::Int(_), Binary::Div) => {
            signed(a, width).wrapping_div(signed(b, width)) as u128 & mask(width)
        }
        (Scalar::Int(_), _) => {
            signed(a, width).wrapping_rem(signed(b, width)) as u128 & mask(width)
        }
        (_, Binary::Div) => a / b,
        _ => a % b,
    }
}

fn saturate(op: Binary, scalar: Scalar, a: u128, b: u128) -> u128 {
    let width = scalar.width();
    let Scalar::Int(_) = scalar else {
        return match op {
            Binary::SatAdd => a.saturating_add(b).min(mask(width)),
            _ => a.saturating_sub(b),
        };
    };
    if width == 0 {
        return 0;
    }
    let (a, b) = (signed(a, width), signed(b, width));
    let sum = if op == Binary::SatAdd { a.saturating_add(b) } else { a.saturating_sub(b) };
    let high = (mask(width) >> 1) as i128;
    sum.clamp(-high - 1, high) as u128 & mask(width)
}

/// [`binary`] at any width.
pub fn wide_binary(op: Binary, scalar: Scalar, right: u32, a: &BigUint, b: &BigUint) -> BigUint {
    let width = scalar.width();
    let truth = |value: bool| BigUint::from(u8::from(value));
    match op {
        Binary::BitAnd | Binary::And => a & b,
        Binary::BitOr | Binary::Or => a | b,
        Binary::BitXor => a ^ b,
        Binary::Eq => truth(a == b),
        Binary::Ne => truth(a != b),
        Binary::Lt => truth(number(scalar, a) < number(scalar, b)),
        Binary::Le => truth(number(scalar, a) <= number(scalar, b)),
        Binary::Gt => truth(number(scalar, a) > number(scalar, b)),
        Binary::Ge => truth(number(scalar, a) >= number(scalar, b)),
        Binary::Concat => (a << right) | b,
        Binary::Shl | Binary::Shr => wide_shift(op, scalar, a, b),
        Binary::SatAdd | Binary::SatSub => wide_saturate(op, scalar, a, b),
        Binary::Div | Binary::Mod if b.is_zero() => match op {
            Binary::Div => BigUint::zero(),
            _ => a.clone(),
        },
        Binary::Add => pattern(&(number(scalar, a) + number(scalar, b)), width),
        Binary::Sub => pattern(&(number(scalar, a) - number(scalar, b)), width),
        Binary::Mul => pattern(&(number(scalar, a) * number(scalar, b)), width),
        Binary::Div => pattern(&(number(scalar, a) / number(scalar, b)), width),
        Binary::Mod => pattern(&(number(scalar, a) % number(scalar, b)), width),
    }
}

/// Number that a pattern represents.
pub fn number(scalar: Scalar, a: &BigUint) -> BigInt {
    match scalar {
        Scalar::Int(width) => wide_signed(a, width),
        _ => BigInt::from_biguint(Sign::Plus, a.clone()),
    }
}

fn wide_shift(op: Binary, scalar: Scalar, a: &BigUint, b: &BigUint) -> BigUint {
    let width = scalar.width();
    let by = b.to_u32().unwrap_or(u32::MAX).min(width);
    match op {
        Binary::Shl => (a << by) & wide_mask(width),
        _ => pattern(&(number(scalar, a) >> by), width),
    }
}

fn wide_saturate(op: Binary, scalar: Scalar, a: &BigUint, b: &BigUint) -> BigUint {
    let width = scalar.width();
    let (a, b) = (number(scalar, a), number(scalar, b));
    let sum = if op == Binary::SatAdd { a + b } else { a - b };
    let (low, high) = match scalar {
        Scalar::Int(0) => (BigInt::zero(), BigInt::zero()),
        Scalar::Int(_) => (-(BigInt::one() << (width - 1)), (BigInt::one() << (width - 1)) - 1),
        _ => (BigInt::zero(), (BigInt::one() << width) - 1),
    };
    pattern(&sum.clamp(low, high), width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPS: [Binary; 21] = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Div,
        Binary::Mod,
        Binary::SatAdd,
        Binary::SatSub,
        Binary::Shl,
        Binary::Shr,
        Binary::BitAnd,
        Binary::BitOr,
        Binary::BitXor,
        Binary::Concat,
        Binary::Eq,
        Binary::Ne,
        Binary::Lt,
        Binary::Le,
        Binary::Gt,
        Binary::Ge,
        Binary::And,
        Binary::Or,
    ];

    /// Result by the specification, on unbounded integers, before it is converted to a pattern.
    fn specified(op: Binary, a: &BigInt, b: &BigInt, low: &BigInt, high: &BigInt) -> BigInt {
        let truth = |v: bool| BigInt::from(u8::from(v));
        match op {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::SatAdd => (a + b).clamp(low.clone(), high.clone()),
            Binary::SatSub => (a - b).clamp(low.clone(), high.clone()),
            Binary::Div => a / b,
            Binary::Mod => a % b,
            Binary::BitAnd => a & b,
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            Binary::Eq => truth(a == b),
            Binary::Ne => truth(a != b),
            Binary::Lt => truth(a < b),
            Binary::Le => truth(a <= b),
            Binary::Gt => truth(a > b),
            Binary::Ge => truth(a >= b),
            _ => unreachable!("shifts, concatenation and logic have tests of their own"),
        }
    }

    fn operands() -> impl Strategy<Value = (u32, bool, BigUint, BigUint)> {
        (1u32..=300, any::<bool>(), prop::collection::vec(any::<u8>(), 76), any::<u8>()).prop_map(
            |(width, signed, bytes, shape)| {
                let a = BigUint::from_bytes_be(&bytes[..38]) & wide_mask(width);
                let b = match shape % 8 {
                    0 => BigUint::zero(),
                    1 => a.clone(),
                    2 => wide_mask(width),
                    3 => BigUint::from(shape) & wide_mask(width),
                    _ => BigUint::from_bytes_be(&bytes[38..]) & wide_mask(width),
                };
                (width, signed, a, b)
            },
        )
    }

    proptest! {
        #[test]
        fn every_operation_agrees_with_unbounded_integers((width, signed, a, b) in operands()) {
            let scalar = if signed { Scalar::Int(width) } else { Scalar::Bit(width) };
            let (x, y) = (number(scalar, &a), number(scalar, &b));
            let half = BigInt::one() << (width - 1);
            let (low, high) = if signed {
                (-half.clone(), half - 1)
            } else {
                (BigInt::zero(), (half << 1) - 1)
            };
            for op in OPS {
                if matches!(op, Binary::Shl | Binary::Shr | Binary::Concat | Binary::And | Binary::Or) {
                    continue;
                }
                if b.is_zero() && matches!(op, Binary::Div | Binary::Mod) {
                    continue;
                }
                let expected = pattern(&specified(op, &x, &y, &low, &high), width);
                prop_assert_eq!(&wide_binary(op, scalar, width, &a, &b), &expected, "{:?}", op);
                if width <= 128 {
                    let (a, b) = (narrowed(&a), narrowed(&b));
                    prop_assert_eq!(binary(op, scalar, width, a, b), narrowed(&expected), "{:?}", op);
                }
            }
        }

        #[test]
        fn shifts_beyond_the_width_give_zero_or_the_sign(
            (width, signed, a, _) in operands(), by in 0u32..400,
        ) {
            let scalar = if signed { Scalar::Int(width) } else { Scalar::Bit(width) };
            let amount = BigUint::from(by);
            let left = pattern(&(number(scalar, &a) << by), width);
            let right = pattern(&(number(scalar, &a) >> by), width);
            prop_assert_eq!(&wide_binary(Binary::Shl, scalar, 32, &a, &amount), &left);
            prop_assert_eq!(&wide_binary(Binary::Shr, scalar, 32, &a, &amount), &right);
            if width <= 128 {
                let a = narrowed(&a);
                prop_assert_eq!(binary(Binary::Shl, scalar, 32, a, by.into()), narrowed(&left));
                prop_assert_eq!(binary(Binary::Shr, scalar, 32, a, by.into()), narrowed(&right));
            }
        }

        #[test]
        fn concatenation_puts_the_left_operand_in_the_high_bits(
            (width, _, a, b) in operands(),
        ) {
            let joined = wide_binary(Binary::Concat, Scalar::Bit(width), width, &a, &b);
            prop_assert_eq!(&joined, &(&a * (BigUint::one() << width) + &b));
            if width <= 64 {
                let narrow =
                    binary(Binary::Concat, Scalar::Bit(width), width, narrowed(&a), narrowed(&b));
                prop_assert_eq!(narrow, narrowed(&joined));
            }
        }

        #[test]
        fn a_cast_keeps_the_number_where_it_fits(
            (width, signed, a, _) in operands(), to in 1u32..=300,
        ) {
            let scalar = if signed { Scalar::Int(width) } else { Scalar::Bit(width) };
            let expected = pattern(&number(scalar, &a), to);
            prop_assert_eq!(&wide_cast(scalar, to, &a), &expected);
            if width <= 128 && to <= 128 {
                prop_assert_eq!(cast(scalar, to, narrowed(&a)), narrowed(&expected));
            }
        }

        #[test]
        fn unary_operations_agree_with_unbounded_integers((width, signed, a, _) in operands()) {
            let scalar = if signed { Scalar::Int(width) } else { Scalar::Bit(width) };
            let negated = pattern(&-number(scalar, &a), width);
            let complement = pattern(&(-number(scalar, &a) - 1), width);
            prop_assert_eq!(&wide_unary(Unary::Negate, scalar, &a), &negated);
            prop_assert_eq!(&wide_unary(Unary::Complement, scalar, &a), &complement);
            if width <= 128 {
                let a = narrowed(&a);
                prop_assert_eq!(unary(Unary::Negate, scalar, a), narrowed(&negated));
                prop_assert_eq!(unary(Unary::Complement, scalar, a), narrowed(&complement));
            }
        }
    }

    #[test]
    fn division_by_zero_does_not_panic() {
        for scalar in [Scalar::Bit(8), Scalar::Int(8), Scalar::Int(128)] {
            assert_eq!(binary(Binary::Div, scalar, 8, 7, 0), 0);
            assert_eq!(binary(Binary::Mod, scalar, 8, 7, 0), 7);
        }
        let lowest = 1u128 << 127;
        assert_eq!(binary(Binary::Div, Scalar::Int(128), 128, lowest, u128::MAX), lowest);
    }
}
