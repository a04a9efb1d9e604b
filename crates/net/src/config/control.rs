//! The control plane of a P4 run: table entries and mirror sessions as data.
//!
//! Names and widths are the program's, so nothing here is checked against it; that is done by
//! whoever installs the entries.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeMap;
use std::fmt;

/// What a control plane would have installed before the first packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ControlConfig {
    /// Tables and their entries.
    pub tables: Vec<TableConfig>,
    /// Mirror sessions of the switch.
    pub mirror_sessions: Vec<MirrorSessionConfig>,
}

/// Entries of one table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableConfig {
    /// Full name, such as `Ingress.forward`.
    pub name: String,
    /// The entries, in order of installation.
    #[serde(default)]
    pub entries: Vec<EntryConfig>,
}

/// One entry of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryConfig {
    /// Key field to value; a ternary field that is absent matches everything.
    #[serde(rename = "match", default)]
    pub matches: BTreeMap<String, MatchValue>,
    /// Action to run.
    pub action: String,
    /// Arguments of the action by parameter name.
    #[serde(default)]
    pub args: BTreeMap<String, Word>,
    /// Lower numbers win among overlapping ternary and range entries.
    #[serde(default)]
    pub priority: u32,
}

/// What one key field must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum MatchValue {
    /// Exactly this.
    Exact(Word),
    /// This under a mask.
    Ternary {
        /// Value.
        value: Word,
        /// Bits that count.
        mask: Word,
    },
    /// These leading bits.
    Prefix {
        /// Value.
        value: Word,
        /// Number of leading bits that count.
        prefix: u16,
    },
    /// Anything from `low` to `high`, both included.
    Range {
        /// Lowest value.
        low: Word,
        /// Highest value.
        high: Word,
    },
}

/// An unsigned word of at most 128 bits: a JSON integer, or a string of decimal or `0x` digits
/// where JSON's integers end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word(pub u128);

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(small) => serializer.serialize_u64(small),
            Err(_) => serializer.serialize_str(&format!("{:#x}", self.0)),
        }
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordVisitor)
    }
}

struct WordVisitor;

impl de::Visitor<'_> for WordVisitor {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unsigned integer of at most 128 bits, or a string of its digits")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Word, E> {
        Ok(Word(u128::from(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Word, E> {
        u128::try_from(value)
            .map(Word)
            .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Word, E> {
        let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => u128::from_str_radix(digits, 16),
            None => text.parse(),
        };
        parsed.map(Word).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

/// One mirror session of the switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorSessionConfig {
    /// Session number that the program names.
    pub session: u16,
    /// Which deparser may use it.
    #[serde(default)]
    pub direction: MirrorDirectionConfig,
    /// Port that the copies go to.
    pub port: u16,
    /// Queue at that port.
    #[serde(default)]
    pub queue: u8,
    /// Copies are cut to this many bytes.
    #[serde(default = "default_max_length")]
    pub max_length: u32,
}

/// Which deparser may use a mirror session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MirrorDirectionConfig {
    /// The ingress deparser.
    Ingress,
    /// The egress deparser.
    #[default]
    Egress,
    /// Either.
    Both,
}

fn default_max_length() -> u32 {
    // The longest frame that a Tofino port takes, so nothing is cut unless asked for.
    16_383
}
