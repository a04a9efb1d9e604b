//! Operations on a running program and on its switch: one set, as plain data.
//!
//! Files in several languages and several protocols are translated to these operations.
//! [`execute`](super::execute) executes those of the program, the owner of the switch those of
//! the switch. Names are full or a unique suffix. A lower priority number wins, as on Tofino and in
//! bmv2.

use super::{
    BufferPool, DefaultEntry, DeflectionQueue, GeneratorApplication, MatchValue, MirrorSession,
    MulticastGroup, NamedValues, Number, ProfileEntries, QueueSetting, SchedulerNode, TableEntry,
};
use crate::snapshot::{SnapshotRead, SnapshotSetting};
use serde::{Deserialize, Serialize};
use sojourn_externs::counter::Count;
use sojourn_externs::filter::FilterSpec;
use sojourn_externs::hash_setting::{HashFunction, HashSetting};
use sojourn_externs::meter::MeterSpec;
use sojourn_externs::selector::{GroupId, MemberId};
use sojourn_p4::interp::tables::Rows;
use sojourn_packet::ReportMode;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// Adds a table entry.
    AddEntry {
        /// The table.
        table: String,
        /// The entry.
        entry: TableEntry,
    },
    /// Adds entries of one shape, all of them or none. Plain data has an `AddEntry` for each.
    #[serde(skip)]
    AddEntries {
        /// The table.
        table: String,
        /// The entries.
        rows: Arc<Rows>,
    },
    /// Adds computed entries, after the existing ones.
    AddComputed {
        /// The table.
        table: String,
        /// Parameters of the computation, as in `entries_from`.
        from: BTreeMap<String, serde_json::Value>,
    },
    /// Replaces the action, member or group of an entry.
    ModifyEntry {
        /// The table.
        table: String,
        /// The entry.
        at: Which,
        /// Its new action or member; `match` and `priority` are ignored.
        to: TableEntry,
    },
    /// Deletes an entry.
    DeleteEntry {
        /// The table.
        table: String,
        /// The entry.
        at: Which,
    },
    /// Deletes all entries that are not part of the program.
    ClearTable {
        /// The table.
        table: String,
    },
    /// Sets the default entry.
    SetDefault {
        /// The table.
        table: String,
        /// The action, or the member or group.
        call: DefaultEntry,
    },
    /// Resets the default action to the program's.
    ResetDefault {
        /// The table.
        table: String,
    },
    /// Sets members and groups of an action profile; others remain.
    SetProfile(ProfileEntries),
    /// Deletes a member of an action profile.
    DeleteMember {
        /// The profile.
        profile: String,
        /// The member.
        member: MemberId,
    },
    /// Deletes a group of an action selector.
    DeleteGroup {
        /// The selector.
        profile: String,
        /// The group.
        group: GroupId,
    },
    /// Sets one cell of a register, or all.
    WriteRegister {
        /// The register.
        name: String,
        /// Cell index; all cells if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
        /// A number for each field.
        value: Vec<Number>,
    },
    /// Sets one cell of a counter, or all.
    WriteCounter {
        /// The counter.
        name: String,
        /// Cell index; for a direct counter, the entry's handle; all cells if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
        /// Packets.
        packets: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Sets rates and bursts of one cell of a meter.
    SetMeter {
        /// The meter.
        name: String,
        /// Cell index; for a direct meter, the entry's handle.
        index: usize,
        /// Rates and bursts.
        spec: MeterSpec,
    },
    /// Removes rates and bursts of one cell of a meter, or of all: all packets are green again.
    ResetMeter {
        /// The meter.
        name: String,
        /// Cell index; for a direct meter, the entry's handle; all cells if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
    },
    /// Sets the adjustment of packet lengths in a meter.
    LengthenMeter {
        /// The meter.
        name: String,
        /// Bytes.
        bytes: i32,
    },
    /// Restricts the bits that count in the exact key elements of a table, while it has no entries.
    SetKeyMask {
        /// The table.
        table: String,
        /// Masks of key elements by name; unnamed elements count in full.
        masks: BTreeMap<String, Number>,
    },
    /// Sets the port of copies for the CPU (`copy_to_cpu`); no copies are made if it is absent.
    SetCpuPort {
        /// The port.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<u16>,
    },
    /// Configures one cell of a low-pass filter or of random early detection, and resets its state.
    SetFilter {
        /// The filter.
        name: String,
        /// Cell index; for a direct filter, the entry's handle.
        index: usize,
        /// Configuration of the filter.
        spec: FilterSpec,
    },
    /// Resets one cell of a filter, or all, to the initial configuration.
    ResetFilter {
        /// The filter.
        name: String,
        /// Cell index; for a direct filter, the entry's handle; all cells if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
    },
    /// Replaces the setting of a hash; an empty setting restores the program's.
    SetHash {
        /// The hash.
        name: String,
        /// The new setting.
        setting: HashSetting,
    },
    /// Sets a constant that registers take from the control plane (`RegisterParam`).
    SetParameter {
        /// The constant.
        name: String,
        /// Its value, cut to the width of the registers that use it.
        value: Number,
    },
    /// Sets the 64 bits of port metadata that Tofino's parsers extract; initially 0.
    SetPortMetadata {
        /// The port.
        port: u16,
        /// The bits.
        value: u64,
    },
    /// Adds a member to a parser's value set: a match for each column.
    AddToValueSet {
        /// The value set.
        name: String,
        /// The member.
        member: Vec<MatchValue>,
    },
    /// Empties a value set.
    ClearValueSet {
        /// The value set.
        name: String,
    },
    /// Arms a snapshot, in place of one of the same pass with its first stage.
    ArmSnapshot(SnapshotSetting),
    /// Removes a snapshot, if it exists.
    DisarmSnapshot {
        /// True for egress, false for ingress.
        #[serde(default)]
        egress: bool,
        /// Its first stage.
        first: u32,
    },
    /// Sets a mirror session (Tofino) or clone session (bmv2), in place of one with its number.
    SetMirrorSession(MirrorSession),
    /// Removes a mirror session.
    RemoveMirrorSession {
        /// Its number.
        session: u16,
    },
    /// Sets a multicast group, in place of one with its number.
    SetMulticastGroup(MulticastGroup),
    /// Removes a multicast group.
    RemoveMulticastGroup {
        /// Its number.
        group: u16,
    },
    /// Sets and enables an application of a packet generator, in place of one with its number.
    SetPacketGenerator(GeneratorApplication),
    /// Disables an application of a packet generator.
    RemovePacketGenerator {
        /// The pipe.
        #[serde(default)]
        pipe: u8,
        /// The application.
        app: u8,
    },
    /// Sets rate, depth, place and part of the packet buffer of queues.
    SetQueue(QueueSetting),
    /// Sets a scheduler node of a port, and puts it in use.
    SetSchedulerNode(SchedulerNode),
    /// Frees a scheduler node without queues.
    FreeSchedulerNode {
        /// Its port.
        port: u16,
        /// Its number in the port group.
        node: u8,
    },
    /// Chooses the changes of depths that queues report to a ghost thread.
    SetDepthReports {
        /// Those of this pipe; of every one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pipe: Option<u16>,
        /// The changes.
        mode: ReportMode,
    },
    /// Sets a pool of the packet buffer.
    SetBufferPool(BufferPool),
    /// Sets the deflection queue of its port's pipe.
    SetDeflection(DeflectionQueue),
    /// Sets or removes a port's shaper.
    ShapePort {
        /// The port.
        port: u16,
        /// bit/s on the wire; unshaped if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<u64>,
        /// Burst in bytes; the default if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        burst: Option<u64>,
    },
}

impl Operation {
    /// Number of operations in its plain-data form.
    pub fn count(&self) -> usize {
        match self {
            Operation::AddEntries { rows, .. } => rows.len(),
            _ => 1,
        }
    }

    /// True if it concerns the switch around the program.
    pub fn is_for_switch(&self) -> bool {
        matches!(
            self,
            Operation::SetMirrorSession(_)
                | Operation::RemoveMirrorSession { .. }
                | Operation::SetMulticastGroup(_)
                | Operation::RemoveMulticastGroup { .. }
                | Operation::SetPacketGenerator(_)
                | Operation::RemovePacketGenerator { .. }
                | Operation::SetQueue(_)
                | Operation::SetSchedulerNode(_)
                | Operation::FreeSchedulerNode { .. }
                | Operation::SetDepthReports { .. }
                | Operation::SetBufferPool(_)
                | Operation::SetDeflection(_)
                | Operation::ShapePort { .. }
        )
    }
}

/// Reference to a table entry: by its handle or by its match key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Which {
    /// This one.
    Handle(u32),
    /// The one with this match and priority.
    Match(Matched),
}

/// Match key of an entry, unique within its priority.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matched {
    /// Key elements; those left out match anything.
    #[serde(rename = "match")]
    pub matches: NamedValues<MatchValue>,
    /// Its priority, in tables that have some.
    #[serde(default)]
    pub priority: u32,
    /// Its rank, in place of a priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<i32>,
}

/// Query that changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "read", rename_all = "snake_case", deny_unknown_fields)]
pub enum Query {
    /// The entries of a table.
    Entries {
        /// The table.
        table: String,
    },
    /// Some entries of a table, in the order of their handles.
    Page {
        /// The table.
        table: String,
        /// The first handle of the page.
        from: u32,
        /// Maximum number of handles to examine.
        most: u32,
    },
    /// The entry with this match and priority.
    Entry {
        /// The table.
        table: String,
        /// Match key of the entry.
        at: Matched,
    },
    /// Default entry of a table.
    Default {
        /// The table.
        table: String,
    },
    /// One cell of a register.
    Register {
        /// The register.
        name: String,
        /// The cell.
        index: usize,
    },
    /// One cell of a counter.
    Counter {
        /// The counter.
        name: String,
        /// The cell; of a direct counter, the entry's handle.
        index: usize,
    },
    /// Rates and bursts of one cell of a meter.
    Meter {
        /// The meter.
        name: String,
        /// The cell.
        index: usize,
    },
    /// Configuration of one cell of a filter, as stored by the chip.
    Filter {
        /// The filter.
        name: String,
        /// The cell; of a direct filter, the entry's handle.
        index: usize,
    },
    /// Setting of a hash, and its result for given inputs.
    Hash {
        /// The hash.
        name: String,
        /// A number for each input that is not a constant; missing ones are 0.
        #[serde(default)]
        inputs: Vec<Number>,
    },
    /// A snapshot.
    Snapshot {
        /// True for egress, false for ingress.
        #[serde(default)]
        egress: bool,
        /// Its first stage.
        first: u32,
    },
    /// The stages that see a field.
    FieldStages {
        /// True for egress, false for ingress.
        #[serde(default)]
        egress: bool,
        /// Name of the field in the program.
        field: String,
    },
    /// Members and groups of an action profile.
    Profile {
        /// The profile.
        name: String,
    },
    /// The member that a group chooses for a hash.
    Chosen {
        /// The profile.
        name: String,
        /// The group.
        group: GroupId,
        /// The hash.
        hash: u64,
    },
}

/// An answer to a [`Query`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// Entries, in the order of their handles.
    Entries(Vec<EntryRead>),
    /// Entries of a page, and the first handle behind it if there is more.
    Page {
        /// The entries.
        page: Vec<EntryRead>,
        /// First handle of the next page.
        next: Option<u32>,
    },
    /// Default entry, if there is one.
    Default(Option<DefaultEntry>),
    /// A number for each field of a register.
    Register(Vec<Number>),
    /// Value of a counter.
    Counter(Count),
    /// Rates and bursts.
    Meter(MeterSpec),
    /// A filter.
    Filter(FilterSpec),
    /// A hash.
    Hash(HashRead),
    /// Members and groups.
    Profile(ProfileEntries),
    /// A snapshot.
    Snapshot(SnapshotRead),
    /// Stages.
    Stages(Vec<u32>),
    /// A member, if one is up.
    Chosen(Option<MemberId>),
}

/// A hash, read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HashRead {
    /// Current setting.
    pub setting: HashSetting,
    /// Widths of its inputs in bits.
    pub inputs: Vec<u32>,
    /// Algorithm in effect, from any source; `None` if no setting names one.
    pub function: Option<HashFunction>,
    /// Hash of the inputs, in the bits that the program uses.
    pub value: Number,
    /// Hash of zeros before rotation, in the same bits.
    pub seed: Number,
}

/// A table entry, read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryRead {
    /// Handle for changes and deletion.
    pub handle: u32,
    /// The entry.
    pub entry: TableEntry,
    /// True if it is part of the program.
    pub is_const: bool,
}
