//! Helpers shared by all configuration checks. An error carries the value, its key and the allowed
//! values.

use super::ConfigError;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The longest run and the longest round-trip time keep sums of instants far from 2^64 ns.
pub(super) const LONGEST: u64 = 100_000_000_000_000;
pub(super) const FASTEST: u64 = 100_000_000_000_000;

/// `value`, or what is wrong with it.
///
/// # Errors
/// It is not in the allowed range.
pub fn within(key: &str, value: u64, allowed: RangeInclusive<u64>) -> Result<(), ConfigError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    Err(invalid(key, value, format!("{} to {}", allowed.start(), allowed.end())))
}

/// Error for a value of `key` that is not allowed.
pub fn invalid(key: &str, value: impl Display, allowed: impl Into<String>) -> ConfigError {
    ConfigError::Invalid { key: key.into(), value: value.to_string(), allowed: allowed.into() }
}
