//! The control plane: table entries, profiles and meters by name, as data.
//!
//! It stands on the interpreter's tables, which check names and widths; here numbers of a file
//! become matches. As on the chip, a *lower* priority number wins (`$MATCH_PRIORITY` of BfRt).
//! Mirror sessions belong to the switch and are only carried along.

use super::externs::meter::MeterSpec;
use super::externs::selector::{GroupId, MemberId};
use super::runtime::Runtime;
use num_bigint::BigUint;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use smallvec::SmallVec;
use sojourn_p4::diagnostic::near_name;
use sojourn_p4::interp::tables::{EntrySpec, EntryTarget, Match, TableError};
use sojourn_p4::interp::{ActionRun, Tables};
use sojourn_p4::ir::{ObjectId, Program, TableId};
use sojourn_packet::Time;
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// A request that does not fit the program.
#[derive(Debug, Error)]
pub enum ControlError {
    /// About a table; the message names it.
    #[error("{0}")]
    Table(#[from] Box<TableError>),
    /// About one entry of a table.
    #[error("entry {number} of table `{table}`: {why}")]
    Entry {
        /// The table.
        table: String,
        /// The entry, counted from 1.
        number: usize,
        /// What does not fit.
        why: Box<TableError>,
    },
    /// A profile, meter or other object that the program does not have.
    #[error("there is no {what} `{name}`{}", near.as_ref().map_or_else(String::new, |n| format!(" (did you mean `{n}`?)")))]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
        /// A name that is near.
        near: Option<String>,
    },
    /// An entry that names no action, member or group, or several of them.
    #[error(
        "entry {number} of table `{table}`: it needs exactly one of `action`, `member`, `group`"
    )]
    Target {
        /// The table.
        table: String,
        /// The entry, counted from 1.
        number: usize,
    },
    /// A cell that a register or counter does not have.
    #[error("{what} `{name}` has no cell {index}")]
    Cell {
        /// What kind of object it is.
        what: &'static str,
        /// Its name.
        name: String,
        /// The cell.
        index: usize,
    },
    /// A cell that a meter does not have.
    #[error("meter `{name}` has no cell {index}")]
    MeterIndex {
        /// The meter.
        name: String,
        /// The cell.
        index: usize,
    },
}

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

/// Installs everything that is the program's.
pub(super) fn install(
    control: &ControlPlane,
    program: &Program,
    tables: &mut Tables,
    runtime: &mut Runtime,
) -> Result<(), ControlError> {
    control.action_profiles.iter().try_for_each(|entries| profile(entries, tables, runtime))?;
    control.tables.iter().try_for_each(|entries| table(entries, tables))?;
    control.meters.iter().try_for_each(|cell| meter(cell, runtime))?;
    control.value_sets.iter().try_for_each(|set| value_set(set, tables))?;
    control.register_params.iter().try_for_each(|value| parameter(value, program, runtime))
}

fn value_set(set: &ValueSetMembers, tables: &mut Tables) -> Result<(), ControlError> {
    let id = tables.find_value_set(&set.name).map_err(Box::new)?;
    for member in &set.members {
        let columns: Vec<Match> = member.iter().map(MatchValue::to_match).collect();
        tables.add_to_value_set(id, &columns).map_err(Box::new)?;
    }
    Ok(())
}

fn parameter(
    given: &ParameterValue,
    program: &Program,
    runtime: &mut Runtime,
) -> Result<(), ControlError> {
    let objects = program.objects.iter().enumerate();
    let params: Vec<_> = objects.filter(|(_, object)| &*object.of == "RegisterParam").collect();
    let Some((at, _)) = params.iter().find(|(_, object)| fits(&object.name, &given.name)) else {
        let known: Vec<&str> = params.iter().map(|(_, object)| &*object.name).collect();
        return Err(unknown("register parameter", &given.name, &known));
    };
    let value = given.value.0.iter_u32_digits().next().unwrap_or(0);
    for register in &mut runtime.registers {
        register.set_parameter(ObjectId(*at as u32), value);
    }
    Ok(())
}

fn table(entries: &TableEntries, tables: &mut Tables) -> Result<(), ControlError> {
    let id = tables.find(&entries.name).map_err(Box::new)?;
    for (index, entry) in entries.entries.iter().enumerate() {
        let number = index + 1;
        let name = || entries.name.clone();
        let target = match (&entry.action, entry.member, entry.group) {
            (Some(action), None, None) => EntryTarget::Action(action.clone(), named(&entry.args)),
            (None, Some(member), None) => EntryTarget::Reference(member),
            (None, None, Some(group)) => EntryTarget::Reference(group | super::runtime::GROUP),
            _ => return Err(ControlError::Target { table: name(), number }),
        };
        let keys = entry.matches.iter().map(|(key, value)| (key.clone(), value.to_match()));
        let spec = EntrySpec { keys: keys.collect(), target, priority: -i64::from(entry.priority) };
        let added = tables.add(id, &spec);
        added.map_err(|why| ControlError::Entry { table: name(), number, why: why.into() })?;
    }
    if let Some(ActionCall { action, args }) = &entries.default {
        tables.set_default(id, action, &named(args)).map_err(Box::new)?;
    }
    Ok(())
}

fn named(args: &BTreeMap<String, Number>) -> Vec<(String, BigUint)> {
    args.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect()
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

fn unknown(what: &'static str, name: &str, known: &[&str]) -> ControlError {
    let near = near_name(name, known.iter().copied()).map(String::from);
    ControlError::Unknown { what, name: name.to_owned(), near }
}

/// True if a name is the wanted one or ends in it.
pub(super) fn fits(known: &str, wanted: &str) -> bool {
    known == wanted || known.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'))
}

fn profile(
    entries: &ProfileEntries,
    tables: &Tables,
    runtime: &mut Runtime,
) -> Result<(), ControlError> {
    let profiles = &mut runtime.profiles;
    let at = profiles.profiles.iter().position(|profile| fits(&profile.name, &entries.name));
    let Some(at) = at else {
        let known: Vec<&str> = profiles.profiles.iter().map(|profile| &*profile.name).collect();
        return Err(unknown("action profile", &entries.name, &known));
    };
    let table = profiles.of_table.iter().find(|(_, profile)| **profile == at).map(|(id, _)| *id);
    for member in &entries.members {
        let run = member_run(member, table, tables)?;
        profiles.profiles[at].members.insert(member.id, run);
    }
    if let Some(selector) = &mut profiles.profiles[at].selector {
        for (group, members) in &entries.groups {
            selector.set_group(*group, members.clone());
        }
    }
    Ok(())
}

/// What a member runs, in terms of the table that uses the profile.
fn member_run(
    member: &ProfileMember,
    table: Option<TableId>,
    tables: &Tables,
) -> Result<ActionRun, ControlError> {
    let Some(table) = table.and_then(|table| tables.description(table)) else {
        return Err(unknown("table that uses the profile of action", &member.action, &[]));
    };
    let names = || table.actions.iter().map(|action| &*action.name);
    let Some(at) = names().position(|name| fits(name, &member.action)) else {
        return Err(unknown("action", &member.action, &names().collect::<Vec<_>>()));
    };
    let mut data: SmallVec<[u128; 4]> = SmallVec::new();
    for (name, _) in &table.actions[at].data {
        let Some(value) = member.args.get(&**name) else {
            return Err(unknown("argument of that name in the member:", name, &[]));
        };
        data.push(u128::try_from(&value.0).unwrap_or(u128::MAX));
    }
    Ok(ActionRun { action: at as u32, data })
}

fn meter(cell: &MeterCell, runtime: &mut Runtime) -> Result<(), ControlError> {
    let at = runtime.meters.iter().position(|(name, _)| fits(name, &cell.name));
    let Some(at) = at else {
        let known: Vec<&str> = runtime.meters.iter().map(|(name, _)| &**name).collect();
        return Err(unknown("meter", &cell.name, &known));
    };
    if runtime.meters[at].1.configure(cell.index, cell.spec, Time::ZERO) {
        return Ok(());
    }
    Err(ControlError::MeterIndex { name: cell.name.clone(), index: cell.index })
}
