//! A number of any width, as written in files and JSON.

use num_bigint::BigUint;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A number of any width: an integer, or a string of decimal or `0x` digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Number(pub BigUint);

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Number(BigUint::from(value))
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(&self.0) {
            Ok(small) => serializer.serialize_u64(small),
            Err(_) => serializer.serialize_str(&format!("{:#x}", self.0)),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl de::Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unsigned integer, or a string of its digits")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number::from(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
        let unsigned = u64::try_from(value);
        unsigned
            .map(Number::from)
            .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let parsed = match digits {
            Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
            None => BigUint::parse_bytes(text.as_bytes(), 10),
        };
        parsed.map(Number).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}
