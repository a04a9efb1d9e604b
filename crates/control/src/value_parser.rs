//! Numbers in control-plane text: digits, addresses, truth values.
//!
//! Depends on widths, not on names; a message says what would be right, and the caller adds the
//! name.

use super::{ControlError, Number};
use num_bigint::BigUint;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Maximum number of characters of a number repeated in a message.
const LONGEST: usize = 100;
/// Maximum number of characters of a number: some 4,000 bits, more than any key has.
const MOST: usize = 4_000;

fn refuse<T>(why: String) -> Result<T, ControlError> {
    Err(ControlError::Message(why))
}

/// Parses `text` as a number of at most `width` bits; `what` names it in messages.
///
/// Accepts digits in decimal, `0x`, `0b` or `0o`; `true` and `false`; for 32, 48 and 128 bits also
/// an IPv4, MAC or IPv6 address.
pub(super) fn number(text: &str, what: &str, width: Option<u32>) -> Result<Number, ControlError> {
    if text.len() > MOST {
        return refuse(format!("{what}: a number of {} characters", text.len()));
    }
    let value = address(text, width).map(|value| (false, value)).or_else(|| digits(text));
    let Some((negative, value)) = value else {
        return refuse(format!("{what}: {text} is not a number{}", also(width)));
    };
    if negative {
        return refuse(format!("{what}: {text} is negative; write the bits as an unsigned number"));
    }
    if let Some(width) = width.filter(|width| value.bits() > u64::from(*width)) {
        let highest = (BigUint::from(1u8) << width) - 1u8;
        let limit = if width <= 16 { highest.to_string() } else { format!("{highest:#x}") };
        let bits = if width == 1 { "bit" } else { "bits" };
        return refuse(format!("{what}: {text} does not fit {width} {bits} (largest is {limit})"));
    }
    Ok(Number(value))
}

/// Result of [`number`] for valid text of at most 128 bits.
pub(super) fn narrow(text: &str, width: u32) -> Option<u128> {
    // So many digits always fit; an address contains other characters.
    let plain = (1..=38).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !plain {
        return u128::try_from(number(text, "", Some(width)).ok()?.0).ok();
    }
    let value = match text.len() {
        ..=19 => text.parse::<u64>().ok()?.into(),
        _ => text.parse::<u128>().ok()?,
    };
    (u128::BITS - value.leading_zeros() <= width).then_some(value)
}

/// A plain number of 0 to `most`: a port, a handle, a cell.
pub(super) fn index(text: &str, what: &str, most: u64) -> Result<u64, ControlError> {
    if text.len() > LONGEST {
        let length = text.len();
        return refuse(format!("{what}: a number of {length} characters; the largest is {most}"));
    }
    match digits(text) {
        None | Some((true, _)) => refuse(format!("{what}: {text} is not a number of 0 or more")),
        Some((false, value)) => match u64::try_from(value).ok().filter(|value| *value <= most) {
            Some(value) => Ok(value),
            None => refuse(format!("{what}: {text} is too large; the largest is {most}")),
        },
    }
}

/// A number of 16 bits: sessions, groups, replication ids, nodes and ports.
pub(super) fn small(text: &str, what: &str) -> Result<u16, ControlError> {
    Ok(index(text, what, u16::MAX.into())? as u16)
}

/// A number of 32 bits: handles, priorities.
pub(super) fn handle(text: &str, what: &str) -> Result<u32, ControlError> {
    Ok(index(text, what, u32::MAX.into())? as u32)
}

/// An index into an array.
pub(super) fn place(text: &str) -> Result<usize, ControlError> {
    Ok(index(text, "index", u64::MAX)? as usize)
}

/// Sign (true if negative) and magnitude.
fn digits(text: &str) -> Option<(bool, BigUint)> {
    let folded = text.to_lowercase();
    match &*folded {
        "true" => return Some((false, 1u8.into())),
        "false" => return Some((false, 0u8.into())),
        _ => {}
    }
    let (negative, unsigned) = match folded.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, folded.strip_prefix('+').unwrap_or(&folded)),
    };
    let (radix, digits) = match unsigned.get(..2) {
        Some("0x") => (16, &unsigned[2..]),
        Some("0o") => (8, &unsigned[2..]),
        Some("0b") => (2, &unsigned[2..]),
        _ => (10, unsigned),
    };
    // A second sign is an error.
    let plain = digits.starts_with(|c: char| c.is_ascii_hexdigit());
    let value = plain.then(|| BigUint::parse_bytes(digits.as_bytes(), radix)).flatten()?;
    Some((negative && value != BigUint::ZERO, value))
}

fn address(text: &str, width: Option<u32>) -> Option<BigUint> {
    match width? {
        32 => text.parse::<Ipv4Addr>().ok().map(|address| u32::from(address).into()),
        48 => mac(text).map(BigUint::from),
        128 => text.parse::<Ipv6Addr>().ok().map(|address| u128::from(address).into()),
        _ => None,
    }
}

fn mac(text: &str) -> Option<u64> {
    let parts: Vec<&str> = text.split(':').collect();
    let is_byte = |part: &&str| matches!(part.len(), 1 | 2) && !part.starts_with('+');
    if parts.len() != 6 || !parts.iter().all(is_byte) {
        return None;
    }
    parts.iter().try_fold(0, |address, part| {
        Some(address << 8 | u64::from(u8::from_str_radix(part, 16).ok()?))
    })
}

fn also(width: Option<u32>) -> &'static str {
    match width {
        Some(32) => " or an IPv4 address",
        Some(48) => " or a MAC address",
        Some(128) => " or an IPv6 address",
        _ => "",
    }
}
