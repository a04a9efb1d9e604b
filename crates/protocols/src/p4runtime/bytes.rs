//! P4Runtime's encoding of numbers: big-endian byte strings, as short as possible.
//!
//! Longer strings are accepted if the excess bytes are zero. Source: P4Runtime 1.5, "Bytestrings".

use num_bigint::{BigInt, BigUint, Sign};

/// Error of a byte string for its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BytesError {
    /// It has no bytes.
    #[error("an empty byte string is no number")]
    Empty,
    /// The value does not fit.
    #[error("{value} does not fit into {width} bits")]
    TooWide {
        /// The value, in hexadecimal digits.
        value: String,
        /// Available bits.
        width: u32,
    },
}

/// Decodes a byte string as `bit<width>`.
///
/// # Errors
/// It is empty, or its value needs more bits.
pub fn unsigned(bytes: &[u8], width: u32) -> Result<BigUint, BytesError> {
    if bytes.is_empty() {
        return Err(BytesError::Empty);
    }
    let value = BigUint::from_bytes_be(bytes);
    if value.bits() > u64::from(width) {
        // The value may be long; its first digits suffice.
        let digits = format!("{value:x}");
        let value = format!("0x{}", digits.get(..40).unwrap_or(&digits));
        return Err(BytesError::TooWide { value, width });
    }
    Ok(value)
}

/// The shortest byte string of a number.
pub fn canonical(value: &BigUint) -> Vec<u8> {
    value.to_bytes_be()
}

/// Decodes a byte string as `int<width>`, into two's-complement bits.
///
/// # Errors
/// It is empty, or its value needs more bits.
pub fn signed(bytes: &[u8], width: u32) -> Result<BigUint, BytesError> {
    if bytes.is_empty() {
        return Err(BytesError::Empty);
    }
    let value = BigInt::from_signed_bytes_be(bytes);
    let half = BigInt::from(1) << width.saturating_sub(1);
    if value >= half || value < -&half {
        return Err(BytesError::TooWide { value: format!("{value:#x}"), width });
    }
    let whole = if value.sign() == Sign::Minus { value + (half << 1) } else { value };
    Ok(whole.magnitude().clone())
}

/// The shortest byte string of an `int<width>` with these two's-complement bits.
pub fn canonical_signed(bits: &BigUint, width: u32) -> Vec<u8> {
    let negative = width > 0 && bits.bit(u64::from(width) - 1);
    let value = BigInt::from(bits.clone());
    let value = if negative { value - (BigInt::from(1) << width) } else { value };
    value.to_signed_bytes_be()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification_for_unsigned_numbers() {
        for (width, bytes, value) in [
            (8, &b"\x63"[..], 99_u32),
            (16, b"\x00\x63", 99),
            (16, b"\x63", 99),
            (16, b"\x30\x64", 12_388),
            (16, b"\x00\x30\x64", 12_388),
            (12, b"\x00\x63", 99),
            (12, b"\x00\x00\x63", 99),
        ] {
            assert_eq!(unsigned(bytes, width), Ok(value.into()), "{bytes:?} in {width} bits");
        }
        for (width, bytes) in [
            (8, &b"\x01\x63"[..]),
            (8, b""),
            (16, b"\x01\x00\x63"),
            (12, b"\x10\x63"),
            (12, b"\x01\x00\x63"),
            (12, b"\x00\x40\x63"),
        ] {
            assert!(unsigned(bytes, width).is_err(), "{bytes:?} in {width} bits");
        }
    }

    #[test]
    fn the_examples_of_the_specification_for_signed_numbers() {
        for (width, bytes, value, shortest) in [
            (8, &b"\x63"[..], 99_u32, &b"\x63"[..]),
            (8, b"\x9d", 0x9d, b"\x9d"),
            (8, b"\xff\x9d", 0x9d, b"\x9d"),
            (12, b"\xfd\x1d", 0xd1d, b"\xfd\x1d"),
            (16, b"\x00\x00", 0, b"\x00"),
            (16, b"\x00", 0, b"\x00"),
        ] {
            assert_eq!(signed(bytes, width), Ok(value.into()), "{bytes:?} in {width} bits");
            assert_eq!(canonical_signed(&value.into(), width), shortest);
        }
        for (width, bytes) in [(8, &b"\x00\x9d"[..]), (12, b"\x8d\x1d"), (16, b"")] {
            assert!(signed(bytes, width).is_err(), "{bytes:?} in {width} bits");
        }
    }

    #[test]
    fn zero_is_one_byte_and_nothing_is_longer_than_it_must_be() {
        assert_eq!(canonical(&0_u32.into()), b"\x00");
        assert_eq!(canonical(&255_u32.into()), b"\xff");
        assert_eq!(canonical(&256_u32.into()), b"\x01\x00");
    }
}
