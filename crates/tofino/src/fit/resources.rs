//! Resources of a stage, and the resources that a node needs.
//!
//! Limits are the chip's (Tofino 1: `mau_spec` and `device` of the open-source back end). Needs are
//! estimates where the compiler has a choice, as in the layout of an exact match.

use super::bits::{Bits, Place};
use super::node::{Kind, Node, Reader};
use crate::arguments;
use crate::chip::TOFINO2;
use crate::register_action::Shape;
use serde::Serialize;
use sojourn_p4::ast::{Annotation, AnnotationBody};
use sojourn_p4::ir::{Layout, ObjectArg, ObjectId, Program, Table, Unit};
use std::collections::{BTreeMap, HashSet};

/// Entries of a TCAM block.
pub const TCAM_WORDS: u64 = 512;
/// Bits of an entry of a TCAM block.
pub const TCAM_BITS: u32 = 44;

/// A resource of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Tables, with and without key.
    LogicalTables,
    /// Gateways.
    Gateways,
    /// Stateful, meter and selector ALUs.
    StatefulAlus,
    /// ALUs of counters.
    StatisticsAlus,
    /// SRAM blocks of 1024 words of 128 bits.
    SramBlocks,
    /// TCAM blocks of [`TCAM_WORDS`] words of [`TCAM_BITS`] bits.
    TcamBlocks,
    /// Map RAMs, in addition to the SRAM of registers, counters and meters.
    MapRams,
    /// Bytes of the exact-match crossbar, gateways and stateful ALUs included.
    ExactCrossbarBytes,
    /// Bytes of the ternary-match crossbar.
    TernaryCrossbarBytes,
    /// Bits of the hash matrix.
    HashBits,
    /// 16-bit slices that carry hashes to memories and actions.
    HashDistribution,
    /// Bytes of the action data bus.
    ActionDataBytes,
    /// Rows of instruction memory of ingress. Each container's ALU has its own 32, and no container is
    /// of both passes, so that ingress and egress do not share them. A row holds the instructions of two
    /// actions that write different containers (bf-p4c, `instruction_memory.h`).
    IngressWords,
    /// Rows of instruction memory of egress.
    EgressWords,
}

/// Number of resources.
pub const COUNT: usize = 14;

impl Resource {
    /// All of them.
    pub const ALL: [Resource; COUNT] = [
        Resource::LogicalTables,
        Resource::Gateways,
        Resource::StatefulAlus,
        Resource::StatisticsAlus,
        Resource::SramBlocks,
        Resource::TcamBlocks,
        Resource::MapRams,
        Resource::ExactCrossbarBytes,
        Resource::TernaryCrossbarBytes,
        Resource::HashBits,
        Resource::HashDistribution,
        Resource::ActionDataBytes,
        Resource::IngressWords,
        Resource::EgressWords,
    ];

    /// Limit of a stage.
    pub const fn limit(self) -> u32 {
        match self {
            Resource::LogicalTables | Resource::Gateways => 16,
            Resource::StatefulAlus | Resource::StatisticsAlus => 4,
            Resource::SramBlocks => 80,
            Resource::TcamBlocks => 24,
            Resource::MapRams => 48,
            Resource::ExactCrossbarBytes => 128,
            Resource::TernaryCrossbarBytes => 66,
            Resource::HashBits => 8 * 52,
            Resource::HashDistribution => 6,
            Resource::ActionDataBytes => 128,
            Resource::IngressWords | Resource::EgressWords => 32,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Resource::LogicalTables => "logical tables",
            Resource::Gateways => "gateways",
            Resource::StatefulAlus => "stateful and meter ALUs",
            Resource::StatisticsAlus => "statistics ALUs",
            Resource::SramBlocks => "SRAM blocks",
            Resource::TcamBlocks => "TCAM blocks",
            Resource::MapRams => "map RAMs",
            Resource::ExactCrossbarBytes => "exact crossbar bytes",
            Resource::TernaryCrossbarBytes => "ternary crossbar bytes",
            Resource::HashBits => "hash bits",
            Resource::HashDistribution => "hash distribution slices",
            Resource::ActionDataBytes => "action data bus bytes",
            Resource::IngressWords => "instruction words, ingress",
            Resource::EgressWords => "instruction words, egress",
        }
    }

    /// True if the compiler has a choice that is not followed here.
    pub const fn is_estimate(self) -> bool {
        !matches!(self, Resource::StatefulAlus | Resource::StatisticsAlus)
    }
}

/// Amounts of all resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts(pub [u32; COUNT]);

impl Amounts {
    /// The amount of one.
    pub fn get(&self, resource: Resource) -> u32 {
        self.0[resource as usize]
    }

    fn add(&mut self, resource: Resource, amount: u32) {
        self.0[resource as usize] = self.get(resource).saturating_add(amount);
    }

    /// Takes all that `other` takes.
    pub fn take(&mut self, other: &Amounts) {
        Resource::ALL.iter().for_each(|resource| self.add(*resource, other.get(*resource)));
    }

    /// Those that are used, with their amounts.
    pub fn nonzero(self) -> impl Iterator<Item = (Resource, u32)> {
        let amounts = Resource::ALL.into_iter().map(move |resource| (resource, self.get(resource)));
        amounts.filter(|(_, amount)| *amount > 0)
    }

    /// The resources of which a stage that uses this and `more` has too few.
    pub fn exceeded<'a>(&'a self, more: &'a Amounts) -> impl Iterator<Item = Resource> + 'a {
        let sum = |resource: Resource| self.get(resource).saturating_add(more.get(resource));
        Resource::ALL.into_iter().filter(move |resource| sum(*resource) > resource.limit())
    }
}

/// Resources that a node needs.
#[derive(Clone, Debug, Default)]
pub struct Need {
    /// Without what two nodes of a stage can share: fields on the crossbars, objects with memory.
    pub fixed: Amounts,
    /// ALUs and memory of registers, counters and meters, each once, however many calls there are.
    pub shared: BTreeMap<ObjectId, Amounts>,
    /// Fields on the exact crossbar.
    pub exact: HashSet<Bits>,
    /// Fields on the ternary crossbar.
    pub ternary: HashSet<Bits>,
    /// The fields that each of its instruction words writes; two words of a stage may share a row.
    pub words: Vec<Vec<Bits>>,
    /// 0 in ingress, 1 in egress.
    pass: usize,
}

impl Need {
    /// The memory of its instruction words.
    pub fn rows(&self) -> Resource {
        [Resource::IngressWords, Resource::EgressWords][self.pass]
    }

    /// All of it, crossbars and objects included.
    pub fn all(&self) -> Amounts {
        let mut all = self.fixed;
        self.shared.values().for_each(|amounts| all.take(amounts));
        let bytes = |fields: &HashSet<Bits>| fields.iter().map(Bits::bytes).sum();
        all.add(Resource::ExactCrossbarBytes, bytes(&self.exact));
        all.add(Resource::TernaryCrossbarBytes, packed_bytes(&self.ternary));
        all.add(self.rows(), self.words.len() as u32);
        all
    }
}

/// Bytes of fields on a crossbar of which those of a few bits, such as flags, share bytes.
pub fn packed_bytes<'a>(fields: impl IntoIterator<Item = &'a Bits>) -> u32 {
    let mut small: u32 = 0;
    let mut bytes: u32 = 0;
    for field in fields {
        match field.width() {
            width @ 0..8 => small += width,
            _ => bytes += field.bytes(),
        }
    }
    bytes + small.div_ceil(8)
}

/// Resources that a node of a pass (0 ingress, 1 egress) needs in its stage. `attached` is false for a gateway
/// without a table to sit in.
pub fn need(program: &Program, node: &Node, pass: usize, attached: bool) -> Need {
    let mut need = Need { pass, ..Need::default() };
    let fixed = &mut need.fixed;
    match node.kind {
        Kind::Gateway => {
            fixed.add(Resource::Gateways, 1);
            fixed.add(Resource::LogicalTables, u32::from(!attached));
            fixed.add(Resource::HashBits, node.range_bits);
        }
        _ => fixed.add(Resource::LogicalTables, 1),
    }
    need.words = node.instruction_words();
    fixed.add(Resource::ActionDataBytes, node.data_bytes);
    let mut ternary = false;
    match node.kind {
        Kind::Table(id) => {
            let table = &program.tables[id.index()];
            let in_sram = implemented_by(program, table, &["Alpm", "Atcam"]).is_some();
            ternary = is_ternary(table) && !in_sram;
            memory(table, ternary, fixed);
        }
        Kind::Partition(id) => {
            ternary = true;
            partitions(program, &program.tables[id.index()], fixed);
        }
        Kind::Switch => fixed.add(Resource::SramBlocks, 1),
        Kind::Action if !node.registers.is_empty() => {
            // A table without key that addresses memory is made to hit by a gateway.
            fixed.add(Resource::Gateways, 1);
        }
        _ => {}
    }
    let registers = node.registers.iter().map(|id| (*id, stateful(program, *id, node)));
    let others = node.objects.iter().map(|id| (*id, other(program, *id)));
    need.shared = registers.chain(others).collect();
    let hashed: u32 = hash_inputs(node);
    fixed.add(Resource::HashBits, hashed.min(52));
    fixed.add(Resource::HashDistribution, hashed.div_ceil(16).min(2));
    for read in &node.reads {
        match (read.by, ternary) {
            (Reader::Action, _) => {}
            (Reader::Match, true) => drop(need.ternary.insert(read.bits)),
            _ => drop(need.exact.insert(read.bits)),
        }
    }
    need
}

fn hash_inputs(node: &Node) -> u32 {
    if node.reads.iter().any(|read| read.by == Reader::Hash) { 16 } else { 0 }
}

/// The register's ALU and memory. Two accesses to one register share both.
fn stateful(program: &Program, id: ObjectId, node: &Node) -> Amounts {
    let mut fixed = Amounts::default();
    let (words, direct) = register_words(program, id);
    fixed.add(Resource::StatefulAlus, 1);
    let blocks = words.div_ceil(1024).max(1) + 1;
    fixed.add(Resource::SramBlocks, blocks);
    fixed.add(Resource::MapRams, blocks);
    if !direct && node.reads.iter().any(|read| read.by == Reader::Index) {
        fixed.add(Resource::HashBits, words.max(2).ilog2() + 1);
        fixed.add(Resource::HashDistribution, 1);
    }
    fixed
}

/// Number of 128-bit words of a register; true if it is indexed by a table's entries.
fn register_words(program: &Program, id: ObjectId) -> (u32, bool) {
    let object = &program.objects[id.index()];
    let entry = object.type_args.first();
    // An entry that the chip does not have is refused elsewhere.
    let any = TOFINO2.stateful_alu;
    let shape = entry.and_then(|entry| Shape::new(entry, any, object.span).ok());
    let bits = shape.map_or(32, Shape::entry_bits);
    let size: Option<u64> = arguments::integer(object, "size").ok();
    let words = size.unwrap_or(1024).saturating_mul(u64::from(bits)).div_ceil(128);
    (words.min(u64::from(u32::MAX / 2)) as u32, size.is_none())
}

/// The ALU and memory of a counter or meter; nothing for other objects.
fn other(program: &Program, id: ObjectId) -> Amounts {
    let mut fixed = Amounts::default();
    let object = &program.objects[id.index()];
    let size: u64 = arguments::integer(object, "size").unwrap_or(1024);
    let blocks = (size.div_ceil(2048) + 1).min(1000) as u32;
    match &*object.of {
        "Counter" | "DirectCounter" => fixed.add(Resource::StatisticsAlus, 1),
        "Meter" | "DirectMeter" | "Lpf" | "DirectLpf" | "Wred" | "DirectWred"
        | "ActionSelector" => {
            fixed.add(Resource::StatefulAlus, 1);
        }
        _ => return fixed,
    }
    fixed.add(Resource::SramBlocks, blocks);
    fixed.add(Resource::MapRams, blocks);
    fixed
}

fn is_ternary(table: &Table) -> bool {
    table.keys.iter().any(|key| !matches!(&*key.match_kind, "exact" | "selector" | "dleft_hash"))
}

/// The object of one of these kinds among a table's properties.
fn implemented_by(program: &Program, table: &Table, kinds: &[&str]) -> Option<ObjectId> {
    let object = |value: &ObjectArg| match value {
        ObjectArg::Object(id) => Some(*id),
        _ => None,
    };
    let mut objects = table.properties.iter().filter_map(|(_, value)| object(value));
    objects.find(|id| kinds.contains(&&*program.objects[id.index()].of))
}

/// True for a table that the compiler makes two of: ternary entries that find a partition, and the
/// partition's entries in SRAM a stage later.
pub fn has_alpm(program: &Program, table: &Table) -> bool {
    implemented_by(program, table, &["Alpm"]).is_some()
        || annotated_number(&table.annotations, "alpm") == Some(1)
}

/// The number that the program gives as `@name(number)` or `@pragma name number`.
pub fn annotated_number(annotations: &[Annotation], name: &str) -> Option<u64> {
    let named = annotations.iter().find(|annotation| &*annotation.name.text == name)?;
    let AnnotationBody::Tokens(tokens) = &named.body else { return None };
    tokens.first().and_then(|token| token.text.parse().ok())
}

/// Entries of a table: its size, 512 unless declared, or more in its text.
pub fn entries(table: &Table) -> u64 {
    table.size.unwrap_or(512).max(table.entries.len() as u64)
}

/// TCAM of the table that finds the partition: 1024 entries unless the `Alpm` says otherwise.
fn partitions(program: &Program, table: &Table, fixed: &mut Amounts) {
    let object = implemented_by(program, table, &["Alpm"]).map(|id| &program.objects[id.index()]);
    let entries: Option<u64> =
        object.and_then(|object| arguments::integer(object, "number_partitions").ok());
    let entries = entries.or(annotated_number(&table.annotations, "alpm_partitions"));
    let key: u32 = table.keys.iter().map(|key| key.expr.scalar.width()).sum();
    let blocks = u64::from(key.div_ceil(TCAM_BITS).max(1))
        * entries.unwrap_or(1024).div_ceil(TCAM_WORDS).max(1);
    fixed.add(Resource::TcamBlocks, blocks.min(100_000) as u32);
    fixed.add(Resource::SramBlocks, 1);
}

/// Blocks of a table's entries and action data.
fn memory(table: &Table, ternary: bool, fixed: &mut Amounts) {
    let data: u32 = table.actions.iter().map(data_bits).max().unwrap_or(0);
    fixed.add(Resource::ActionDataBytes, data.div_ceil(8));
    if table.keys.is_empty() {
        return;
    }
    let key: u32 = table.keys.iter().map(|key| key.expr.scalar.width()).sum();
    let entries = entries(table).max(1);
    // Up to 32 bits of action data are in the entry itself.
    let immediate = if data <= 32 { immediate_bits(table) } else { 0 };
    if data > 32 {
        let per_word = (128 / data.next_power_of_two().min(128)).max(1);
        fixed.add(Resource::SramBlocks, blocks(entries, u64::from(per_word) * 1024));
    }
    if ternary {
        let columns = u64::from(key.div_ceil(TCAM_BITS).max(1));
        let rows = entries.div_ceil(TCAM_WORDS);
        fixed.add(Resource::TcamBlocks, columns.saturating_mul(rows).min(100_000) as u32);
        let indirect = (128 / (immediate + 8).next_power_of_two().clamp(8, 128)).max(1);
        fixed.add(Resource::SramBlocks, blocks(entries, u64::from(indirect) * 1024));
    } else {
        // 10 bits of the key are the row, the rest is matched by bytes; 4 bits are the entry's
        // version, up to 3 say which action it runs.
        let choice = (table.actions.len().max(1) as u32).next_power_of_two().ilog2().min(3);
        let entry = key.saturating_sub(10).next_multiple_of(8) + 4 + immediate + choice;
        let (wide, per_word) = match entry {
            0..=128 => (1, u64::from(128 / entry.max(1)).min(5)),
            wider => (wider.div_ceil(128), 1),
        };
        fixed.add(Resource::SramBlocks, blocks(entries, per_word * 1024).saturating_mul(wide));
        // A key of fewer bits than a row's address is the address itself: one way of four.
        fixed.add(Resource::HashBits, if key < 10 { 10 } else { 52 });
    }
}

fn blocks(entries: u64, in_one: u64) -> u32 {
    entries.div_ceil(in_one).min(100_000) as u32
}

fn data_bits(action: &sojourn_p4::ir::TableAction) -> u32 {
    let bits = action.data.iter().map(|(_, layout)| match layout {
        Layout::Narrow(_, scalar) | Layout::Wide(_, scalar) => scalar.width().next_multiple_of(8),
        _ => 0,
    });
    bits.sum()
}

/// Bits of action data in an entry.
fn immediate_bits(table: &Table) -> u32 {
    let bits = |action: &sojourn_p4::ir::TableAction| -> u32 {
        let widths = action.data.iter().map(|(_, layout)| match layout {
            Layout::Narrow(_, scalar) | Layout::Wide(_, scalar) => scalar.width(),
            _ => 0,
        });
        widths.sum()
    };
    table.actions.iter().map(bits).max().unwrap_or(0)
}

/// Containers of each width that the fields of a pass take, if each has its own: 8, 16, 32 bits.
pub fn containers(unit: &Unit, nodes: &[Node]) -> [u32; 3] {
    let places: HashSet<Place> = nodes
        .iter()
        .flat_map(|node| {
            let reads = node.reads.iter().map(|read| read.bits.place);
            reads.chain(node.writes.iter().map(|write| write.bits.place))
        })
        .collect();
    let mut containers = [0; 3];
    let mut flags = 0;
    for place in places {
        let info = match place {
            Place::Narrow(slot) => unit.slots.get(slot.index()),
            Place::Wide(slot) => unit.wide_slots.get(slot.index()),
        };
        let Some(info) = info.filter(|info| !info.name.starts_with('$')) else { continue };
        let width = info.scalar.width();
        if width == 1 {
            flags += 1;
            continue;
        }
        containers[2] += width / 32;
        match width % 32 {
            0 => {}
            1..=8 => containers[0] += 1,
            9..=16 => containers[1] += 1,
            _ => containers[2] += 1,
        }
    }
    containers[0] += u32::div_ceil(flags, 8);
    containers
}
