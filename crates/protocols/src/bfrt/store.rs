//! What clients have said that the program does not keep: rows of the fixed tables and of action
//! profiles, members of value sets.

use super::fields::Row;
use sojourn_targets::control::MatchValue;
use std::collections::BTreeMap;

/// An entry of a table whose keys are numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// Its action, or 0.
    pub action: u32,
    /// Its data.
    pub row: Row,
}

/// Entries by their keys.
pub type Entries = BTreeMap<Vec<u64>, Entry>;

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Store {
    tables: BTreeMap<u32, Entries>,
    /// Members of value sets.
    pub members: BTreeMap<u32, Vec<Vec<MatchValue>>>,
    /// Clients want to hear of ports that go up and down.
    pub tells_ports: bool,
}

impl Store {
    /// Entries of a table.
    pub fn entries(&self, table: u32) -> impl Iterator<Item = (&Vec<u64>, &Entry)> {
        self.tables.get(&table).into_iter().flatten()
    }

    /// An entry.
    pub fn entry(&self, table: u32, key: &[u64]) -> Option<&Entry> {
        self.tables.get(&table)?.get(key)
    }

    /// Sets an entry, or takes it out.
    pub fn set(&mut self, table: u32, key: Vec<u64>, to: Option<Entry>) {
        let of_table = self.tables.entry(table).or_default();
        match to {
            Some(entry) => of_table.insert(key, entry),
            None => of_table.remove(&key),
        };
    }
}
