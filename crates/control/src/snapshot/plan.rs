//! In which stage a program's steps are, and which stages see its fields.

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
    /// The control that is in the stages.
    pub control: String,
    /// Its steps, in the order of the program.
    pub steps: Vec<Step>,
    /// The fields of its parameters.
    pub fields: Vec<Field>,
}

/// A table, or statements that are none.
#[derive(Clone, Debug)]
pub struct Step {
    /// A table's full name, or one for people.
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
    /// As the program calls it.
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

/// A place in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Of at most 128 bits.
    Narrow(usize),
    /// Of more.
    Wide(usize),
}

/// Bits of a field that are in one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The container, by the chip's number.
    pub container: u16,
    /// The lowest of the field's bits.
    pub from: u32,
    /// Number of bits.
    pub bits: u32,
    /// The lowest bit of the container that has them.
    pub at: u32,
}
