//! Rows of packets as they come, one at a time, made columns a few hundred at a time: a row is then
//! written once and each column looked for once, not seven of them for each packet.

use super::PacketRows;
use sojourn_switch::PacketObservation;

/// Rows that are not yet in columns.
const BATCH: usize = 256;

/// The rows of one observed port that wait to be taken.
#[derive(Debug, Default)]
pub(crate) struct GatheredRows {
    columns: PacketRows,
    fresh: Vec<PacketObservation>,
}

impl GatheredRows {
    /// Adds the row of a packet.
    #[inline]
    pub(crate) fn push(&mut self, packet: PacketObservation) {
        self.fresh.push(packet);
        if self.fresh.len() >= BATCH {
            self.settle();
        }
    }

    #[inline(never)]
    fn settle(&mut self) {
        self.columns.extend(&self.fresh);
        self.fresh.clear();
    }

    /// All rows, to be taken, or looked at and forgotten.
    pub(crate) fn settled(&mut self) -> &mut PacketRows {
        self.settle();
        &mut self.columns
    }
}
