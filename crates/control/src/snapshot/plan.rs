//! Stage plan of a program: the stages of its steps, and the stages that see its fields.

use sojourn_p4::source::Span;
use std::ops::RangeInclusive;

/// Both passes of a program.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Stages that the chip has.
    pub stages: u32,
    /// Ingress and egress.
    pub passes: [PassPlan; 2],
    /// Reason why there is no plan.
    pub refused: Option<String>,
}

/// A pass.
#[derive(Clone, Debug, Default)]
pub struct PassPlan {
    /// The control in the stages.
    pub control: String,
    /// Its steps, in the order of the program.
    pub steps: Vec<Step>,
    /// The fields of its parameters.
    pub fields: Vec<Field>,
}

/// A table, or statements outside tables.
#[derive(Clone, Debug)]
pub struct Step {
    /// A table's full name, or a descriptive name.
    pub name: String,
    /// Whether it is a table of the program.
    pub is_table: bool,
    /// Source span of its statements.
    pub span: Span,
    /// The stages that it takes.
    pub stages: RangeInclusive<u32>,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name in the program.
    pub name: String,
    /// Slot in the control's frame.
    pub slot: Slot,
    /// Its width in bits.
    pub width: u32,
    /// The stages that see it, if any does.
    pub stages: Option<RangeInclusive<u32>>,
    /// The validity of its header, by name.
    pub header: Option<String>,
    /// The containers that it is in.
    pub parts: Vec<Part>,
}

/// Slot of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Of at most 128 bits.
    Narrow(usize),
    /// Of more than 128 bits.
    Wide(usize),
}

/// Bits of a field that are in one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The container, by the chip's number.
    pub container: u16,
    /// Lowest bit of the field.
    pub from: u32,
    /// Number of bits.
    pub bits: u32,
    /// Lowest bit of the container.
    pub at: u32,
}
