//! The control plane: table entries, profiles, meters, sessions and queues by name, as data.
//!
//! A [`ControlPlane`] is the initial configuration of a run, as plain data; it becomes a [`Batch`]
//! of [`Operation`]s, which is carried out once. As on Tofino (`$MATCH_PRIORITY` of BfRt) and in
//! bmv2, a *lower* priority number wins. Mirror sessions, multicast groups and queues are the
//! switch's; this crate only carries them.

mod batch;
mod codel_entries;
pub mod commands;
pub mod describe;
pub mod digest;
mod error;
mod execute;
pub mod idle_timeout;
mod named_values;
mod names;
mod number;
mod operation;
mod packet_generator;
pub mod profiles;
mod queue_delay_entries;
mod register_cells;
mod rows;
pub mod runtime_control;
pub mod schema;
pub mod snapshot;
pub mod stf;
mod toml_fast_path;
mod value_parser;

pub use batch::Batch;
pub use describe::describe;
pub use digest::Digest;
pub use error::ControlError;
pub use execute::{Checkpoint, execute, read};
pub use named_values::NamedValues;
pub use number::Number;
pub use operation::{EntryRead, HashRead, Matched, Operation, Query, Reply, Which};
pub use packet_generator::{
    Bits, GeneratorApplication, GeneratorPattern, GeneratorTrigger, PacketContents,
};
pub use rows::{append, expand_rows};
pub use runtime_control::RuntimeControl;
pub use schema::Schema;
pub use toml_fast_path::{Extracted, take_entries};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sojourn_externs::filter::FilterSpec;
use sojourn_externs::meter::MeterSpec;
use sojourn_externs::selector::{GroupId, MemberId};
use sojourn_p4::interp::tables::{Match, Rows};
use sojourn_p4::ir::Program;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Configuration that is installed before the first packet.
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
    /// Cells of low-pass filters and of random early detection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<FilterCell>,
    /// Members of parser value sets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub value_sets: Vec<ValueSetMembers>,
    /// Values of `RegisterParam`s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub register_params: Vec<ParameterValue>,
    /// Port metadata that parsers extract in front of packets, on Tofino.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub port_metadata: Vec<PortMetadata>,
    /// Initial values of registers that differ from the program's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<RegisterValue>,
    /// Multicast groups, for the switch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub multicast_groups: Vec<MulticastGroup>,
    /// Applications of packet generators, for the switch of a Tofino program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pktgen: Vec<GeneratorApplication>,
    /// Number of priority queues at each port, for the switch, up to 32; a higher one is served
    /// first. The queue of a packet is its `priority` for a v1model program, and its `qid` on
    /// Tofino, where queues above 7 share the highest of eight priorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_queues: Option<u8>,
    /// Number of queues of equal weight at each port, served by deficit weighted round robin: up to
    /// 32 on Tofino, where a packet's queue is its `qid`, and up to 8 in place of priority queues
    /// for a v1model program, where it is its `priority`. bmv2 has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_queues: Option<u8>,
    /// Pools of the packet buffer, for the switch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buffer_pools: Vec<BufferPool>,
    /// Settings of queues, for the switch; a later one wins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueSetting>,
    /// Scheduler nodes between queues and ports, on Tofino 2; set before the queues.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scheduler_nodes: Vec<SchedulerNode>,
    /// Queues for packets that are deflected on drop, one for a pipe, on Tofino.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deflection: Vec<DeflectionQueue>,
    /// Commands of `simple_switch_CLI`, executed after everything above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandFile>,
}

/// A file of commands of bmv2's `simple_switch_CLI`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandFile {
    /// Name used in messages.
    pub name: String,
    /// Its text, which may be long and is parsed by each run.
    #[serde(with = "shared")]
    pub text: Arc<str>,
}

/// Serialisation of shared text.
mod shared {
    use super::*;

    pub fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}

impl ControlPlane {
    /// Plain-data form: rows become entries like the others.
    pub fn plain(mut self) -> ControlPlane {
        for entries in &mut self.tables {
            let rows = std::mem::take(&mut entries.rows);
            let written = rows.iter().flat_map(|rows| rows::expand_rows(rows));
            entries.entries.splice(..0, written.collect::<Vec<_>>());
        }
        self
    }

    /// The same with every computed entry expanded, for the tables of `program`.
    ///
    /// # Errors
    /// Entries that cannot be computed, with their table.
    pub fn expand(self, program: &Program) -> Result<ControlPlane, ControlError> {
        let mut all = self.plain();
        for entries in &mut all.tables {
            let Some(from) = entries.entries_from.take() else { continue };
            let refused = |why| ControlError::Computed { table: entries.name.clone(), why };
            let mut named = program.tables.iter().filter(|table| fits(&table.name, &entries.name));
            let Some(table) = named.next() else {
                let known: Vec<&str> = program.tables.iter().map(|table| &*table.name).collect();
                return Err(ControlError::unknown("table", &entries.name, &known));
            };
            let computed = codel_entries::entries(&from, table, program).map_err(refused)?;
            entries.entries.extend(rows::expand_rows(&computed));
        }
        Ok(all)
    }
}

/// The value of one cell of a register, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterValue {
    /// The register's name.
    pub name: String,
    /// Cell index; all cells if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The value.
    pub value: Number,
}

/// A multicast group of the switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MulticastGroup {
    /// Its number.
    pub id: u16,
    /// The copies, node by node.
    pub nodes: Vec<MulticastNode>,
}

/// Copies of a multicast group that share a replication id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MulticastNode {
    /// Replication id that the copies get.
    #[serde(default)]
    pub rid: u16,
    /// A copy for each of these ports.
    pub ports: Vec<u16>,
}

/// Cells of a pool of the packet buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferPool {
    /// Its number, 0 to 3.
    pub pool: u8,
    /// Its cells; without them, pool 0 has the rest of the buffer and another one none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<u32>,
}

/// A factor in millionths; a plain number as data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Multiple(pub u32);

impl TryFrom<f64> for Multiple {
    type Error = String;

    fn try_from(factor: f64) -> Result<Multiple, String> {
        let millionths = (factor * 1e6).round();
        if (0.0..=1_024e6).contains(&millionths) {
            return Ok(Multiple(millionths as u32));
        }
        Err(format!("{factor} is no multiple of the free cells; allowed is 0 to 1024"))
    }
}

impl From<Multiple> for f64 {
    fn from(multiple: Multiple) -> f64 {
        f64::from(multiple.0) / 1e6
    }
}

/// Rate and depth of queues of the switch, as `set_queue_rate` and `set_queue_depth` of bmv2 set
/// them, a rate in bit/s, a weight, their part of the packet buffer, or whether they send at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QueueSetting {
    /// At this port; at every port if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The queue of this priority; every queue of the port if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Packets per second, exactly spaced; 0 removes the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_per_second: Option<u64>,
    /// Rate on the wire, bit/s, exactly spaced; 0 removes the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_per_second: Option<u64>,
    /// Maximum number of packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// True: the queue takes packets and sends none; false: it sends again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Share of the turns among queues of equal priority, 1 to 1023.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u16>,
    /// Strict priority in the scheduler, 0 to 7; a higher one goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// Maximum number of cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_cells: Option<u32>,
    /// Dynamic threshold: multiple of the cells that its pool has free; 0 takes the threshold away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Multiple>,
    /// Cells of its pool that a dynamic threshold leaves it in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_cells: Option<u32>,
    /// Its pool of the packet buffer, 0 to 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<u8>,
    /// Cells that it finds whatever others hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guaranteed_cells: Option<u32>,
    /// Cells for packets beyond its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom_cells: Option<u32>,
    /// Eighths of its limit for yellow packets, 1 to 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yellow_eighths: Option<u8>,
    /// Eighths of its limit for red packets, 1 to 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub red_eighths: Option<u8>,
    /// Its scheduler node, on Tofino 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<u8>,
    /// Whether it reports its depth to a ghost thread, on Tofino 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports: Option<bool>,
}

/// A scheduler node between the queues and a port of Tofino 2; what is absent stays as it is. A node
/// that was free comes into use with weight 0 and without rates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchedulerNode {
    /// Its port.
    pub port: u16,
    /// Its number in the port group, 0 to 31; that of the port's place in the group is the port's own.
    pub node: u8,
    /// Strict priority, 0 to 7; a higher one goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// Strict priority within the guaranteed rate, 0 to 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_level: Option<u8>,
    /// Share of the turns among nodes of equal priority, 1 to 1023; with 0 they take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u16>,
    /// It has the highest priority of its queues in place of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_propagation: Option<bool>,
    /// True: its queues send nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Most on the wire, bit/s or packets/s; 0 takes the limit away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rate: Option<u64>,
    /// Burst of that rate in bytes, or in packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_burst: Option<u64>,
    /// Guaranteed on the wire; 0 takes the guarantee away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<u64>,
    /// Burst of that rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_burst: Option<u64>,
    /// Rates and bursts count packets.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub packets: bool,
}

/// The queue for packets of its port's pipe that have no room in their own and ask for deflection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeflectionQueue {
    /// Its port.
    pub port: u16,
    /// Its number at the port.
    #[serde(default)]
    pub queue: u8,
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
    /// Its name, or a unique suffix.
    pub name: String,
    /// Entries of one shape, in front of the others; plain data lists them in `entries`.
    #[serde(skip)]
    pub rows: Vec<Arc<Rows>>,
    /// Entries in the order of installation.
    #[serde(default)]
    pub entries: Vec<TableEntry>,
    /// Further, computed entries: `control_law` or `queue_delay`, with constants of the program and
    /// the first and the last key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries_from: Option<BTreeMap<String, serde_json::Value>>,
    /// Default entry, run on a miss; the program's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<DefaultEntry>,
}

/// One entry of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// Match value of each key element; omitted elements match anything.
    #[serde(rename = "match", default)]
    pub matches: NamedValues<MatchValue>,
    /// The action to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Its arguments by name.
    #[serde(default)]
    pub args: NamedValues<Number>,
    /// Instead of an action: a member of the table's action profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    /// Instead of an action: a group of the table's action selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// Among several matching ternary or range entries, the lowest number wins.
    #[serde(default)]
    pub priority: u32,
    /// Alternative to `priority`, used by the program's own entries and P4Runtime: the highest
    /// number wins, and any rank wins over a `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<i32>,
}

/// Default entry: an action, a member or a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultEntry {
    /// The action to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Its arguments by name.
    #[serde(default)]
    pub args: NamedValues<Number>,
    /// Instead of an action: a member of the table's action profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    /// Instead of an action: a group of the table's action selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
}

impl From<ActionCall> for DefaultEntry {
    fn from(call: ActionCall) -> DefaultEntry {
        DefaultEntry { action: Some(call.action), args: call.args, ..DefaultEntry::default() }
    }
}

/// An action with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionCall {
    /// The action.
    pub action: String,
    /// Its arguments by name.
    #[serde(default)]
    pub args: NamedValues<Number>,
}

/// Match value of one key element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum MatchValue {
    /// This value.
    Exact(Number),
    /// This value under a mask.
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
        /// Number of leading bits.
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

/// A mirror session of the switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorSession {
    /// Number that the program names.
    pub session: u16,
    /// Pass that may use it (Tofino; bmv2's sessions serve both).
    #[serde(default)]
    pub direction: SessionDirection,
    /// Port that the copies go to; absent if they go to a multicast group only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Multicast group that receives copies, alone or in addition to a port (bmv2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u16>,
    /// Queue at that port.
    #[serde(default)]
    pub queue: u8,
    /// Copies are cut to this many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
}

/// Pass that may use a mirror session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionDirection {
    /// The ingress pass.
    Ingress,
    /// The egress pass.
    #[default]
    Egress,
    /// Either.
    Both,
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
    /// Its groups: number, and members with their state (true for up).
    #[serde(default)]
    pub groups: Vec<(GroupId, Vec<(MemberId, bool)>)>,
}

/// A member of an action profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileMember {
    /// Its number.
    pub id: MemberId,
    /// Name of its action.
    pub action: String,
    /// Arguments by name.
    #[serde(default)]
    pub args: NamedValues<Number>,
}

/// One cell of a meter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeterCell {
    /// The meter's name.
    pub name: String,
    /// Cell index.
    pub index: usize,
    /// Its rates and bursts.
    pub spec: MeterSpec,
}

/// Port metadata that parsers extract in front of a port's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortMetadata {
    /// The port.
    pub port: u16,
    /// 64 bits, the program's fields first.
    pub value: u64,
}

/// One cell of a low-pass filter or of random early detection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterCell {
    /// The filter's name.
    pub name: String,
    /// Cell index.
    pub index: usize,
    /// Configuration of the filter.
    pub spec: FilterSpec,
}

/// True if a name is the wanted one or ends in it.
pub fn fits(known: &str, wanted: &str) -> bool {
    known == wanted || known.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'))
}
