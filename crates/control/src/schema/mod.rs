//! Complete control-plane schema of a program: objects with types, annotations and order.
//!
//! [`describe`](mod@crate::describe) suffices to write entries; schema formats (P4Info, `bf-rt.json`)
//! are generated from this module. It holds names, widths and annotations, is read from the IR
//! alone, and must not depend on any format. Each format assigns its own numbers and names.

mod annotation;
mod build;
mod hashes;
mod snapshots;
mod types;

pub use annotation::{Annotation, Body, Literal, Token};
pub(crate) use build::size;
pub use hashes::hashes;
pub use types::{DataType, EnumType, Field, NewType, Types};

use num_bigint::{BigInt, BigUint};

/// Declarations of a program for its control plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// Name of the architecture's declarations: `v1model`.
    pub architecture: String,
    /// The annotations of `main`.
    pub annotations: Vec<Annotation>,
    /// Packages that are arguments of `main`: the pipelines of a chip.
    pub pipelines: Vec<Pipeline>,
    /// Tables that are applied.
    pub tables: Vec<Table>,
    /// Actions of tables, and those that controls call directly.
    pub actions: Vec<Action>,
    /// Action profiles and selectors.
    pub profiles: Vec<Profile>,
    /// Counters, including direct ones.
    pub counters: Vec<Counter>,
    /// Meters, including direct ones.
    pub meters: Vec<Meter>,
    /// Registers.
    pub registers: Vec<Register>,
    /// Registers with a cell for each entry of the table that names them; they have no size of
    /// their own.
    pub direct_registers: Vec<Register>,
    /// Constants of registers' actions that the control plane may set.
    pub register_parameters: Vec<RegisterParameter>,
    /// Low-pass filters and random early detection, including direct ones.
    pub filters: Vec<Filter>,
    /// Hashes that the control plane can set.
    pub hashes: Vec<Hash>,
    /// Port metadata that the control plane sets and parsers extract in front of a port's packets.
    pub port_metadata: Vec<PortMetadata>,
    /// Messages to the control plane.
    pub digests: Vec<Digest>,
    /// Parsers' value sets.
    pub value_sets: Vec<ValueSet>,
    /// Fields that snapshots of a chip's passes show.
    pub snapshots: Vec<Snapshot>,
    /// Headers of packets from and to the control plane.
    pub packet_headers: Vec<PacketHeader>,
    /// Every extern object as declared, including those of the lists above.
    pub objects: Vec<Object>,
    /// Named types that are used above.
    pub types: Types,
    /// True if the text contains something that may have a type: a table, an object, a call of a
    /// function of the architecture.
    pub has_types: bool,
}

/// A pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// Names of its parsers and controls.
    pub blocks: Vec<String>,
}

/// A name with its annotations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named {
    /// The full name.
    pub name: String,
    /// Its annotations.
    pub annotations: Vec<Annotation>,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub named: Named,
    /// Its key elements, including selectors' inputs.
    pub keys: Vec<Key>,
    /// The actions it may run.
    pub actions: Vec<ActionReference>,
    /// Default action: an index into `actions`, and a value for each parameter.
    pub default_action: Option<(usize, Vec<Value>)>,
    /// True if the control plane may not change it.
    pub const_default_action: bool,
    /// True if its entries are part of the program.
    pub const_entries: bool,
    /// Number of entries in the program's text.
    pub entries: usize,
    /// `size`, if given.
    pub size: Option<u64>,
    /// The full name of its action profile or selector.
    pub profile: Option<String>,
    /// The full names of its direct counters and meters.
    pub direct: Vec<String>,
    /// The full name of its register, direct or not.
    pub register: Option<String>,
    /// The full name of its filter, direct or not.
    pub filter: Option<String>,
    /// True if the table reports idle entries.
    pub idle_timeout: bool,
}

/// A number of a fixed width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its bits, most significant byte first, as many bytes as its width takes.
    pub bytes: Vec<u8>,
}

/// A key element.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its name.
    pub named: Named,
    /// `exact`, `ternary`, `lpm`, `range`, `optional`, `selector`, ...
    pub match_kind: String,
    /// Its type.
    pub ty: DataType,
    /// Its width in bits.
    pub width: u32,
}

/// An action in a table's list.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionReference {
    /// The action's full name.
    pub action: String,
    /// Annotations of this list's entry.
    pub annotations: Vec<Annotation>,
    /// `@defaultonly`
    pub default_only: bool,
    /// `@tableonly`
    pub table_only: bool,
}

/// An action.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Its name.
    pub named: Named,
    /// Parameters that a table sets.
    pub parameters: Vec<Parameter>,
}

/// A parameter of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub named: Named,
    /// Its type.
    pub ty: DataType,
    /// Its width in bits.
    pub width: u32,
}

/// An action profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub named: Named,
    /// True for a selector, whose members come in groups.
    pub selector: bool,
    /// Maximum number of members, or of groups if the members have a profile of their own.
    pub size: u64,
    /// Maximum number of members of a group, if specified.
    pub max_group_size: Option<u64>,
    /// The profile in which a selector's members are declared, and its size.
    pub members: Option<(Named, u64)>,
    /// The tables that use it, by full name, sorted.
    pub tables: Vec<String>,
}

/// Unit of a counter or meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Both.
    Both,
}

/// A counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Its name.
    pub named: Named,
    /// Unit counted.
    pub unit: Option<Unit>,
    /// Cells or entries.
    pub cells: Cells,
}

/// A meter.
#[derive(Clone, Debug, PartialEq)]
pub struct Meter {
    /// Its name.
    pub named: Named,
    /// Unit measured.
    pub unit: Option<Unit>,
    /// Cells or entries.
    pub cells: Cells,
}

/// Location of the cells of a counter or meter.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Number of cells, and the type of the index, if it has one of its own.
    Indexed(u64, Option<DataType>),
    /// One for each entry of the table with this full name; `None` if no table uses it.
    Direct(Option<String>),
}

/// A register.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// Its name.
    pub named: Named,
    /// Number of cells; 0 if the program does not specify it.
    pub size: u64,
    /// The type of a cell.
    pub ty: DataType,
    /// The type of its index, if it has one of its own.
    pub index: Option<DataType>,
}

/// A constant that the actions of a register take from the control plane.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterParameter {
    /// Its name.
    pub named: Named,
    /// Its width in bits.
    pub width: u32,
    /// Initial value.
    pub initial: u64,
    /// The full name of the register whose actions read it, if any.
    pub register: Option<String>,
}

/// A filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Its name.
    pub named: Named,
    /// True for random early detection.
    pub drops: bool,
    /// Cells or entries.
    pub cells: Cells,
}

/// A hash with a single call in the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Hash {
    /// Its name.
    pub named: Named,
    /// Inputs.
    pub inputs: Vec<HashInput>,
    /// The width of its result in bits.
    pub width: u32,
    /// The bits of the result that the program uses: the lowest, and their number.
    pub used: (u32, u32),
}

/// An input of a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashInput {
    /// Text in the program.
    pub name: String,
    /// Its width in bits.
    pub width: u32,
    /// Value, if it is a constant number.
    pub constant: Option<BigUint>,
}

/// Port metadata that a parser extracts in front of packets from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct PortMetadata {
    /// The parser.
    pub parser: String,
    /// Name of the parser's header for it.
    pub header: String,
    /// Names and widths of its parts; empty if the parser extracts it as a header of its own.
    pub fields: Vec<(String, u32)>,
}

/// A message to the control plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// Its name.
    pub named: Named,
    /// Type of its contents.
    pub ty: DataType,
}

/// A value set.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSet {
    /// Its name.
    pub named: Named,
    /// Maximum number of members.
    pub size: u64,
    /// The parts of a member; the part of a plain number has no name.
    pub parts: Vec<Key>,
}

/// Fields that a snapshot of a pass shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The pipeline.
    pub pipeline: String,
    /// True for egress, false for ingress.
    pub egress: bool,
    /// The control.
    pub control: String,
    /// Fields of its parameters, and the validity of its headers.
    pub fields: Vec<SnapshotField>,
}

/// A field that a snapshot may show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotField {
    /// Name in the program: `hdr.ipv4.ttl`, `hdr.ipv4.$valid$`.
    pub name: String,
    /// Its width in bits.
    pub width: u32,
}

/// A header between a packet and the control plane.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketHeader {
    /// Name of its type.
    pub ty: Named,
    /// `packet_in` or `packet_out`.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Parameter>,
}

/// An extern object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its name.
    pub named: Named,
    /// The extern's name.
    pub of: String,
}

/// A number as bits of a type of this width.
fn value_of(number: &BigInt, width: u32) -> Value {
    let modulus = BigInt::from(1) << width.max(1);
    let bits = ((number % &modulus) + &modulus) % &modulus;
    let digits = bits.to_bytes_be().1;
    let mut bytes = vec![0; (width.max(1).div_ceil(8) as usize).saturating_sub(digits.len())];
    bytes.extend(digits);
    Value { bytes }
}
