//! State that clients set and the program does not hold: rows of the device tables and of action
//! profiles, members of value sets.

use super::device_tables;
use super::fields::Row;
use super::idle::Idle;
use super::pipe_scope::Scope;
use super::schema::{Kind, Schema, Table};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use num_bigint::BigUint;
use sojourn_control::MatchValue;
use std::collections::{BTreeMap, BTreeSet};

/// An entry of a table with numeric keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// Its action, or 0.
    pub action: u32,
    /// Its data.
    pub row: Row,
}

/// A member of a value set, after its handle: a match for each column.
pub type Member = (u32, Vec<MatchValue>);

/// A snapshot of the stages, with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Index of its pipeline, if there are several.
    pub pipeline: Option<usize>,
    /// Its pipe; `None` for all.
    pub pipe: Option<u32>,
    /// Its first stage.
    pub first: u32,
    /// Its last stage.
    pub last: u32,
    /// True for egress, false for ingress.
    pub egress: bool,
    /// Timer setting; the timer itself is off.
    pub timer: u64,
    /// Trigger: values and masks of fields, by field number.
    pub trigger: Row,
    /// Whether it is or was armed.
    pub enabled: bool,
}

/// Entries by their keys.
pub type Entries = BTreeMap<Vec<u64>, Entry>;

/// A table's id, a key, and the previous entry.
type Changed = (u32, Vec<u64>, Option<Entry>);

/// Key as stored: the first of the pipes that have the entry is appended, unless it is pipe 0.
pub fn kept_key(mut key: Vec<u64>, first: u32) -> Vec<u64> {
    key.extend((first > 0).then_some(u64::from(first)));
    key
}

/// First pipe in a stored key of one element.
pub fn pipe_in(key: &[u64]) -> u32 {
    key.get(1).map_or(0, |pipe| *pipe as u32)
}

/// Client state of a program.
#[derive(Clone, Debug, Default)]
pub struct Store {
    tables: BTreeMap<u32, Entries>,
    /// Previous entries of each change, during a batch that may be rolled back.
    changed: Option<Vec<Changed>>,
    /// Members of value sets with their handles, by table and first pipe.
    pub members: BTreeMap<(u32, u32), Vec<Member>>,
    /// Snapshots of the stages.
    pub snapshots: Vec<Snapshot>,
    /// Software counts by table and cell: packets and bytes, as clients last read or set them.
    /// Later counts are in the chip only.
    pub counted: BTreeMap<(u32, u64), (u64, u64)>,
    /// Key masks that clients set, by table and key element.
    pub key_masks: BTreeMap<u32, BTreeMap<u32, BigUint>>,
    /// Clocks of idle entries, by table.
    pub idle: BTreeMap<u32, Idle>,
    /// Scopes that clients have set, by table.
    pub scopes: BTreeMap<u32, bfrt::EntryScope>,
    /// Adjustment of meters' packet lengths, by table and pipe.
    pub longer: BTreeMap<(u32, u32), i32>,
    /// Data of default entries other than their action: counts and rates.
    pub defaults: BTreeMap<u32, Row>,
    /// Ports that clients deleted from `$PORT`.
    pub removed_ports: BTreeSet<u16>,
    /// Clients subscribed to port status changes.
    pub tells_ports: bool,
}

impl Store {
    /// Scope of the members and groups of a profile: that of the entries that refer to them.
    ///
    /// # Errors
    /// As for [`Scope::new`].
    pub fn scope_of_profile(&self, schema: &Schema, profile: &Table) -> Result<Scope, Failure> {
        let names = |table: &&Table| matches!(&table.kind, Kind::Match { profile: Some(name), .. } if *name == profile.inner);
        let mut users = schema.tables.values().filter(names);
        Scope::new(users.find_map(|table| self.scopes.get(&table.id)))
    }

    /// Moves the state of the fixed tables to `with`.
    pub fn share(&mut self, with: &mut Store) {
        for table in device_tables::numbers() {
            match self.tables.remove(&table) {
                Some(entries) => drop(with.tables.insert(table, entries)),
                None => drop(with.tables.remove(&table)),
            }
        }
        with.removed_ports = std::mem::take(&mut self.removed_ports);
        with.tells_ports = std::mem::take(&mut self.tells_ports);
    }

    /// Entries of a table.
    pub fn entries(&self, table: u32) -> impl Iterator<Item = (&Vec<u64>, &Entry)> {
        self.tables.get(&table).into_iter().flatten()
    }

    /// Number of entries of a table.
    pub fn count(&self, table: u32) -> usize {
        self.tables.get(&table).map_or(0, BTreeMap::len)
    }

    /// The keys of a table's entries.
    pub fn keys(&self, table: u32) -> Vec<Vec<u64>> {
        self.entries(table).map(|(key, _)| key.clone()).collect()
    }

    /// An entry.
    pub fn entry(&self, table: u32, key: &[u64]) -> Option<&Entry> {
        self.tables.get(&table)?.get(key)
    }

    /// Sets or deletes an entry.
    pub fn set(&mut self, table: u32, key: Vec<u64>, to: Option<Entry>) {
        let of_table = self.tables.entry(table).or_default();
        let kept = self.changed.as_ref().map(|_| key.clone());
        let was = match to {
            Some(entry) => of_table.insert(key, entry),
            None => of_table.remove(&key),
        };
        if let (Some(changed), Some(key)) = (&mut self.changed, kept) {
            changed.push((table, key, was));
        }
    }

    /// Begins a batch and returns the state that [`Store::take_back`] needs. Tables may be large,
    /// so only the entries changed from here on are recorded.
    pub fn begin(&mut self) -> Box<Store> {
        let tables = std::mem::take(&mut self.tables);
        let before = Box::new(self.clone());
        self.tables = tables;
        self.changed = Some(Vec::new());
        before
    }

    /// Ends a batch and keeps its changes.
    pub fn end(&mut self) {
        self.changed = None;
    }

    /// Rolls a batch back.
    pub fn take_back(&mut self, before: Box<Store>) {
        for (table, key, was) in self.changed.take().into_iter().flatten().rev() {
            self.set(table, key, was);
        }
        let tables = std::mem::take(&mut self.tables);
        *self = Store { tables, ..*before };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rollback_restores_the_state() {
        let entry = |action| Some(Entry { action, row: Row::new() });
        let mut store = Store::default();
        store.set(1, vec![7], entry(1));
        store.set(1, vec![8], entry(1));
        let before = store.begin();
        store.set(1, vec![7], entry(2));
        store.set(1, vec![7], None);
        store.set(1, vec![8], entry(3));
        store.set(2, vec![9], entry(1));
        store.removed_ports.insert(3);
        store.take_back(before);
        assert_eq!(store.entry(1, &[7]), entry(1).as_ref());
        assert_eq!(store.entry(1, &[8]), entry(1).as_ref());
        assert!(store.entry(2, &[9]).is_none() && store.removed_ports.is_empty());
        // Rolling a batch back leaves the changes of the batches before it.
        store.begin();
        store.set(1, vec![7], entry(4));
        store.end();
        let before = store.begin();
        store.take_back(before);
        assert_eq!(store.entry(1, &[7]), entry(4).as_ref());
    }
}
