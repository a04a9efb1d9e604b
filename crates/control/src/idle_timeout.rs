//! Time of the last hit of table entries, for tables with idle timeouts.

use sojourn_p4::interp::Matched;
use sojourn_p4::interp::tables::EntryHandle;
use sojourn_p4::ir::TableId;
use sojourn_packet::Time;

/// Times by table and entry; `None` for tables without an idle timeout.
#[derive(Clone, Debug, Default)]
pub struct LastHits(Vec<Option<Vec<Time>>>);

impl LastHits {
    /// Starts recording the hits of a table.
    pub fn begin(&mut self, table: TableId) {
        if self.0.len() <= table.index() {
            self.0.resize_with(table.index() + 1, || None);
        }
        self.0[table.index()].get_or_insert_with(Vec::new);
    }

    /// True if the hits of any table are recorded.
    #[inline]
    pub fn are_noted(&self) -> bool {
        !self.0.is_empty()
    }

    /// Records the result of a lookup.
    #[inline]
    pub fn note(&mut self, matched: &Matched, now: Time) {
        let Some(Some(hits)) = self.0.get_mut(matched.table.index()) else { return };
        let Some(entry) = matched.entry else { return };
        if hits.len() <= entry.index() {
            hits.resize(entry.index() + 1, Time::ZERO);
        }
        hits[entry.index()] = now;
    }

    /// Time of an entry's last hit since recording began.
    pub fn last(&self, table: TableId, entry: EntryHandle) -> Option<Time> {
        let hits = self.0.get(table.index())?.as_ref()?;
        hits.get(entry.index()).copied().filter(|at| *at > Time::ZERO)
    }
}
