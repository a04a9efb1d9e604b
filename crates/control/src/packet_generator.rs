//! An application of a packet generator, as data of a control plane.
//!
//! The chip's limits are the switch's to check; this file only carries numbers, times in nanoseconds
//! and the contents of packets.

use super::Number;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// An application of a packet generator (`[[pktgen]]`).
///
/// ```
/// use sojourn_control::{GeneratorApplication, GeneratorTrigger};
/// let given = serde_json::json!({"app": 1, "trigger": {"periodic": 16_000_000}, "packet": "ff:02 03"});
/// let application: GeneratorApplication = serde_json::from_value(given)?;
/// assert_eq!(application.trigger, GeneratorTrigger::Periodic(16_000_000));
/// assert_eq!(application.packet.0, [0xff, 2, 3]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorApplication {
    /// Pipe of the generator.
    #[serde(default)]
    pub pipe: u8,
    /// Number of the application.
    pub app: u8,
    /// Its trigger.
    pub trigger: GeneratorTrigger,
    /// Bytes of each packet behind the generator's header.
    pub packet: PacketContents,
    /// Batches of a trigger.
    #[serde(default = "one")]
    pub batches: u32,
    /// Packets of a batch.
    #[serde(default = "one")]
    pub packets: u32,
    /// From the start of a batch to that of the next, ns.
    #[serde(default)]
    pub batch_gap: u64,
    /// From the start of a packet to that of the next in its batch, ns.
    #[serde(default)]
    pub packet_gap: u64,
    /// The generator's port in the pipe; the chip's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The port that the packets come in by, in the pipe; `port` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_port: Option<u16>,
    /// Each packet of a batch comes in by the next port.
    #[serde(default)]
    pub increment_source_port: bool,
}

fn one() -> u32 {
    1
}

/// Trigger of an application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GeneratorTrigger {
    /// Once, so many nanoseconds after it is set.
    OneShot(u64),
    /// Every so many nanoseconds.
    Periodic(u64),
    /// One of these ports of the pipe goes down, each counted once; any port if there are none.
    PortDown(Vec<u16>),
    /// A recirculated packet begins with these bits.
    Pattern(GeneratorPattern),
}

/// Leading bits of a recirculated packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorPattern {
    /// The packet's first bytes as a number: 4 on Tofino 1, 16 on Tofino 2.
    pub value: Bits,
    /// Bits of it that count.
    pub mask: Bits,
}

/// A number of at most 128 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits(pub u128);

impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Number(self.0.into()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Bits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bits, D::Error> {
        let number = Number::deserialize(deserializer)?;
        let bits = u128::try_from(&number.0);
        bits.map(Bits).map_err(|_| de::Error::custom("a pattern of more than 128 bits"))
    }
}

/// Bytes of a packet: hexadecimal digits, between which spaces and colons may stand, or a list of
/// numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketContents(pub Vec<u8>);

impl Serialize for PacketContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&digits)
    }
}

impl<'de> Deserialize<'de> for PacketContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PacketContents, D::Error> {
        deserializer.deserialize_any(ContentsVisitor)
    }
}

struct ContentsVisitor;

impl<'de> de::Visitor<'de> for ContentsVisitor {
    type Value = PacketContents;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pairs of hexadecimal digits, or a list of bytes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PacketContents, E> {
        let refused = || E::invalid_value(de::Unexpected::Str(text), &self);
        let text = text.trim_start();
        let text = text.strip_prefix("0x").unwrap_or(text);
        let digits = text.chars().filter(|c| !matches!(c, ' ' | ':' | '\n' | '\t'));
        let digits: Option<Vec<u8>> =
            digits.map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
        let digits = digits.filter(|all| all.len().is_multiple_of(2)).ok_or_else(refused)?;
        let bytes = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]);
        Ok(PacketContents(bytes.collect()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<PacketContents, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Ok(PacketContents(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn contents(given: serde_json::Value) -> Result<Vec<u8>, String> {
        let read: Result<PacketContents, _> = serde_json::from_value(given);
        read.map(|contents| contents.0).map_err(|error| error.to_string())
    }

    #[test]
    fn contents_are_digits_or_bytes() {
        assert_eq!(contents(json!("0x0a0B")), Ok(vec![10, 11]));
        assert_eq!(contents(json!([0, 255])), Ok(vec![0, 255]));
        assert_eq!(serde_json::to_value(PacketContents(vec![10, 11])).unwrap(), json!("0a0b"));
        for wrong in [json!("0a0"), json!("zz"), json!([256]), json!(5)] {
            assert!(contents(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_has_at_most_128_bits() {
        let read = |text: &str| serde_json::from_value::<Bits>(json!(text)).map(|bits| bits.0);
        assert_eq!(read("0xffffffffffffffffffffffffffffffff").unwrap(), u128::MAX);
        assert!(read("0x100000000000000000000000000000000").is_err());
    }
}
