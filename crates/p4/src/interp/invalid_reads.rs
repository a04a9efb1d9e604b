//! Reads of fields of invalid headers in one run: their number, and the first.
//!
//! Only reads that the program marks ([`ExprKind::Guarded`]) are counted. The target decides which
//! reads are marked and how they are reported; this module must not depend on one.

use super::context::Externs;
use crate::ir::{Expr, ExprKind, Program, Slot, Unit, UnitId, WideSlot};
use crate::source::Span;
use std::cell::Cell;

/// Report of such reads in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRead<'p> {
    /// Number of reads.
    pub count: u64,
    /// The first field, by its path (`hdr.ipv4.ttl`); of a stack's element the one in element 0.
    pub field: &'p str,
    /// Source span of the read.
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
    /// Counts a read.
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

    /// Reports the reads in a run of `unit`, if there were any.
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
