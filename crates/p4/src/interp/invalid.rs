//! Reads of fields of invalid headers in one run: how many, and the first.
//!
//! A read is noticed where the program has it marked ([`ExprKind::Guarded`]); which reads are
//! marked, and what is made of them, is the target's. It must not know any.

use super::context::Externs;
use crate::ir::{Expr, ExprKind, Program, Slot, Unit, UnitId, WideSlot};
use crate::source::Span;
use std::cell::Cell;

/// What a run tells of such reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRead<'p> {
    /// How many there were.
    pub count: u64,
    /// The first field, by its path (`hdr.ipv4.ttl`); of a stack's element the one in element 0.
    pub field: &'p str,
    /// Where it was read.
    pub place: Span,
}

/// The reads of a run so far.
#[derive(Debug, Default)]
pub(super) struct InvalidReads {
    count: Cell<u64>,
    first: Cell<Option<(Field, Span)>>,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Narrow(Slot),
    Wide(WideSlot),
}

impl InvalidReads {
    /// Counts one.
    #[cold]
    pub fn note(&self, read: &Expr) {
        self.count.set(self.count.get() + 1);
        if self.first.get().is_none() {
            let field = match &read.kind {
                ExprKind::Slot(slot) | ExprKind::Element { base: slot, .. } => Field::Narrow(*slot),
                ExprKind::WideSlot(slot) => Field::Wide(*slot),
                _ => return,
            };
            self.first.set(Some((field, read.span)));
        }
    }

    /// Tells of the reads in a run of `unit`, if there were any.
    #[inline]
    pub fn report<E: Externs + ?Sized>(&self, program: &Program, unit: UnitId, externs: &mut E) {
        if self.count.get() > 0 {
            self.report_all(&program.units[unit.index()], externs);
        }
    }

    #[cold]
    fn report_all<E: Externs + ?Sized>(&self, unit: &Unit, externs: &mut E) {
        let Some((field, place)) = self.first.get() else { return };
        let info = match field {
            Field::Narrow(slot) => unit.slots.get(slot.index()),
            Field::Wide(slot) => unit.wide_slots.get(slot.index()),
        };
        let field = info.map_or("", |info| &*info.name);
        externs.read_invalid(&InvalidRead { count: self.count.get(), field, place });
    }
}
