//! Nodes that are placed into stages: tables, gateways, and actions without a table.

use super::bits::Bits;
use sojourn_p4::ir::{ObjectId, TableId};
use sojourn_p4::source::Span;

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A condition of an `if`.
    Gateway,
    /// A `switch` over a value, which becomes a table.
    Switch,
    /// Statements outside tables: the compiler makes a table without key of them.
    Action,
    /// A table of the program.
    Table(TableId),
    /// The table in front of one with `Alpm`, which finds the part of its entries to look in.
    Partition(TableId),
}

/// Reader of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reader {
    /// The key of a table.
    Match,
    /// A condition.
    Gateway,
    /// A stateful ALU.
    Stateful,
    /// The index of a register, counter or meter.
    Index,
    /// A hash.
    Hash,
    /// An instruction of an action.
    Action,
}

/// A read.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// Bits read.
    pub bits: Bits,
    /// By what.
    pub by: Reader,
    /// The register whose access reads it, as its operand or index.
    pub of: Option<ObjectId>,
}

/// A write.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// Bits written.
    pub bits: Bits,
    /// Source span.
    pub span: Span,
    /// True if a constant or an unchanged field is written: a compiler may see through that.
    pub copied: bool,
    /// True if a compiler can compute it together with what reads it.
    pub folds: bool,
    /// The register whose output is written.
    pub of: Option<ObjectId>,
}

/// An access to a register.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The register.
    pub register: ObjectId,
    /// The register action, or the register itself.
    pub action: ObjectId,
    /// Span of the call.
    pub span: Span,
}

/// An arm of a branch: which branch, and which of its arms.
pub type Arm = (u32, u32);

/// The bit of [`Node::shared_byte`] that stands for the first checksum; those of fields are
/// lower.
pub const FIRST_CHECKSUM: u64 = 1 << 8;
/// The number of the last checksum that has a bit of its own; those behind share it.
pub const LAST_CHECKSUM: u32 = 16;
/// The statement list of the first table that the compiler adds. Others count down from it; a program
/// has no list with these numbers.
pub const ADDED_LIST: u32 = u32::MAX;
/// The first of the bits for flags of the program.
pub const FIRST_FLAG: u64 = 1 << 25;
/// The first of the bits for valid bits of headers and requests, and how many there are.
pub const FIRST_VALIDITY: u64 = 1 << 32;
pub const VALIDITIES: u32 = 32;

/// Something that has a place in a stage.
#[derive(Clone, Debug)]
pub struct Node {
    /// Kind.
    pub kind: Kind,
    /// For people.
    pub name: String,
    /// Source span.
    pub span: Span,
    /// Its statement list; nodes of one list can become one table.
    pub list: u32,
    /// Its enclosing branches, outermost first.
    pub path: Vec<Arm>,
    /// The node that decides whether it runs.
    pub guard: Option<usize>,
    /// Its reads.
    pub reads: Vec<Read>,
    /// Its writes.
    pub writes: Vec<Write>,
    /// Bytes of a header of which it writes some bits: one instruction writes them, as a field of a
    /// packet cannot be cut elsewhere.
    pub in_part: Vec<Bits>,
    /// Registers that it accesses.
    pub registers: Vec<ObjectId>,
    /// Its calls of register actions.
    pub accesses: Vec<Access>,
    /// Other objects with memory: counters, meters, selectors.
    pub objects: Vec<ObjectId>,
    /// Extern calls other than hashes; one action has one of them at most.
    pub calls: u32,
    /// Instructions that come one after the other, beyond the first.
    pub extra: u32,
    /// The instruction words that it chooses from, each with the fields that it writes; none if there
    /// is one, with all writes.
    pub words: Vec<Vec<Bits>>,
    /// Bytes of constants and results that come over the action data bus.
    pub data_bytes: u32,
    /// Bits of a range comparison in a gateway.
    pub range_bits: u32,
    /// Which fields of the byte that small fields for the deparser share it writes, as bits.
    pub shared_byte: u64,
    /// The first stage that the program allows it, by `@stage`.
    pub first_stage: u32,
    /// True if the statement is in an action of the program.
    pub in_action: bool,
    /// True in the body of a loop.
    pub in_loop: bool,
    /// False once nothing needs it.
    pub alive: bool,
}

impl Node {
    /// A node that does nothing yet.
    pub fn new(kind: Kind, name: String, span: Span) -> Node {
        Node {
            kind,
            name,
            span,
            list: 0,
            path: Vec::new(),
            guard: None,
            reads: Vec::new(),
            writes: Vec::new(),
            in_part: Vec::new(),
            registers: Vec::new(),
            accesses: Vec::new(),
            objects: Vec::new(),
            calls: 0,
            extra: 0,
            words: Vec::new(),
            data_bytes: 0,
            range_bits: 0,
            shared_byte: 0,
            first_stage: 0,
            in_action: false,
            in_loop: false,
            alive: true,
        }
    }

    /// True if a packet can meet only one of the two.
    pub fn excludes(&self, other: &Node) -> bool {
        let parts = self.path.iter().zip(&other.path);
        parts.take_while(|(a, b)| a.0 == b.0).any(|(a, b)| a.1 != b.1)
    }

    /// The fields of each instruction word, without those that write nothing: they are the `nop` that
    /// each pass has.
    pub fn instruction_words(&self) -> Vec<Vec<Bits>> {
        let own: Vec<Bits> = self.writes.iter().map(|write| write.bits).collect();
        let needed = |bits: &Bits| own.iter().any(|write| write.overlap(bits));
        let words = match self.kind {
            Kind::Gateway => Vec::new(),
            Kind::Action | Kind::Partition(_) if self.words.is_empty() => vec![own.clone()],
            _ => self
                .words
                .iter()
                .map(|word| word.iter().copied().filter(needed).collect())
                .collect(),
        };
        words.into_iter().filter(|word: &Vec<Bits>| !word.is_empty()).collect()
    }

    /// True if it has an effect beyond the fields that it writes.
    pub fn has_effects(&self) -> bool {
        !self.registers.is_empty()
            || !self.objects.is_empty()
            || self.chooses_checksum()
            || matches!(self.kind, Kind::Table(_))
    }

    /// True for a table of the compiler that selects the deparser's checksum.
    pub fn chooses_checksum(&self) -> bool {
        self.shared_byte & (FIRST_FLAG - FIRST_CHECKSUM) != 0
    }

    /// One word for what it is.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Gateway => "gateway",
            Kind::Switch => "switch",
            Kind::Action if !self.registers.is_empty() => "stateful",
            Kind::Action => "action",
            Kind::Table(_) | Kind::Partition(_) => "table",
        }
    }
}
