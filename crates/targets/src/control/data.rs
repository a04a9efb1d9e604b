//! The control plane as data: entries, profiles, meters by name, as a file gives them.
//!
//! Names and widths are the program's and are not checked here. As on the chip, a *lower* priority
//! number wins (`$MATCH_PRIORITY` of BfRt; bmv2 counts the same way). Mirror sessions belong to the
//! switch and are only carried along.

use super::number::Number;
use crate::tna::externs::meter::MeterSpec;
use crate::tna::externs::selector::{GroupId, MemberId};
use serde::{Deserialize, Serialize};
use sojourn_p4::interp::tables::Match;
use std::collections::BTreeMap;

/// What a control plane installs before the first packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ControlPlane {
    /// Tables and their entries.
    pub tables: Vec<TableEntries>,
    /// Mirror sessions, for the switch.
    pub mirror_sessions: Vec<MirrorSession>,
    /// Action profiles and selectors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub action_profiles: Vec<ProfileEntries>,
    /// Meter cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meters: Vec<MeterCell>,
    /// Members of parser value sets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub value_sets: Vec<ValueSetMembers>,
    /// Values of `RegisterParam`s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub register_params: Vec<ParameterValue>,
}

/// Members of one parser value set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueSetMembers {
    /// The value set's name.
    pub name: String,
    /// Each member: one match for each column.
    pub members: Vec<Vec<MatchValue>>,
}

/// The value of one `RegisterParam`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterValue {
    /// The parameter's name.
    pub name: String,
    /// Its value, cut to the width of the registers that use it.
    pub value: Number,
}

/// Entries of one table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableEntries {
    /// Its name, or as much of its end as is unique.
    pub name: String,
    /// Entries in the order of installation.
    #[serde(default)]
    pub entries: Vec<TableEntry>,
    /// What a miss runs, unless the program says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<ActionCall>,
}

/// One entry of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// Key element to match; elements that are left out match anything.
    #[serde(rename = "match", default)]
    pub matches: BTreeMap<String, MatchValue>,
    /// The action to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Its arguments by name.
    #[serde(default)]
    pub args: BTreeMap<String, Number>,
    /// Instead of an action: a member of the table's action profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    /// Instead of an action: a group of the table's action selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// Among several ternary or range entries that match, the lowest number wins.
    #[serde(default)]
    pub priority: u32,
}

/// An action with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionCall {
    /// The action.
    pub action: String,
    /// Its arguments by name.
    #[serde(default)]
    pub args: BTreeMap<String, Number>,
}

/// What one key element has to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum MatchValue {
    /// This.
    Exact(Number),
    /// This under a mask.
    Ternary {
        /// The value.
        value: Number,
        /// Bits that count.
        mask: Number,
    },
    /// These leading bits.
    Prefix {
        /// The value.
        value: Number,
        /// How many leading bits.
        prefix: u32,
    },
    /// Between two values, both included.
    Range {
        /// The lowest.
        low: Number,
        /// The highest.
        high: Number,
    },
}

/// A mirror session of the switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorSession {
    /// Number that the program names.
    pub session: u16,
    /// Which deparser may use it: `ingress`, `egress` or `both`.
    #[serde(default = "egress")]
    pub direction: String,
    /// Port that the copies go to.
    pub port: u16,
    /// Queue at that port.
    #[serde(default)]
    pub queue: u8,
    /// Copies are cut to this many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
}

fn egress() -> String {
    "egress".to_owned()
}

/// Members and groups of one action profile or selector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileEntries {
    /// The profile's or selector's name.
    pub name: String,
    /// Its members.
    #[serde(default)]
    pub members: Vec<ProfileMember>,
    /// Its groups: number, and members with whether they are up.
    #[serde(default)]
    pub groups: Vec<(GroupId, Vec<(MemberId, bool)>)>,
}

/// A member of an action profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileMember {
    /// Its number.
    pub id: MemberId,
    /// What it runs.
    pub action: String,
    /// Arguments by name.
    #[serde(default)]
    pub args: BTreeMap<String, Number>,
}

/// One cell of a meter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeterCell {
    /// The meter's name.
    pub name: String,
    /// Which cell.
    pub index: usize,
    /// Its rates and bursts.
    pub spec: MeterSpec,
}

impl MatchValue {
    /// As the tables take it.
    pub fn to_match(&self) -> Match {
        match self {
            MatchValue::Exact(value) => Match::Exact(value.0.clone()),
            MatchValue::Ternary { value, mask } => {
                Match::Ternary { value: value.0.clone(), mask: mask.0.clone() }
            }
            MatchValue::Prefix { value, prefix } => {
                Match::Prefix { value: value.0.clone(), length: *prefix }
            }
            MatchValue::Range { low, high } => {
                Match::Range { low: low.0.clone(), high: high.0.clone() }
            }
        }
    }
}
