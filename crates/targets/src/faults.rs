//! What a program did while packets passed that its target cannot do.

use sojourn_p4::interp::Halt;
use std::sync::Arc;

/// Something that the program asked for and that the target cannot do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// How often a packet accessed a register a second time in one pass; the access did nothing.
    pub second_accesses: u64,
    /// How often a pass was ended because the program went round a loop too often, or called
    /// something that is not there; the packet was dropped.
    pub halted: u64,
    /// Why the first pass was ended.
    pub first: Option<Arc<str>>,
}

impl Faults {
    /// A pass was ended.
    pub(crate) fn halted(&mut self, halt: &Halt) {
        self.halted += 1;
        self.first.get_or_insert_with(|| halt.to_string().into());
    }
}
