//! What clients have said that the program does not keep: rows of the fixed tables and of action
//! profiles, members of value sets.

use super::fields::Row;
use super::idle::Idle;
use crate::wire::bfrt_proto as bfrt;
use sojourn_targets::control::MatchValue;
use std::collections::{BTreeMap, BTreeSet};

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
    /// Clocks of idle entries, by table.
    pub idle: BTreeMap<u32, Idle>,
    /// Scopes that clients have set, by table.
    pub scopes: BTreeMap<u32, bfrt::EntryScope>,
    /// By how much meters take packets to be longer, by table.
    pub longer: BTreeMap<u32, i32>,
    /// What default entries have beside an action: a member in its place, counts, rates.
    pub defaults: BTreeMap<u32, Row>,
    /// Ports that clients have taken out of `$PORT`.
    pub removed_ports: BTreeSet<u16>,
    /// Clients want to hear of ports that go up and down.
    pub tells_ports: bool,
}

impl Store {
    /// Entries of a table.
    pub fn entries(&self, table: u32) -> impl Iterator<Item = (&Vec<u64>, &Entry)> {
        self.tables.get(&table).into_iter().flatten()
    }

    /// The keys of a table's entries.
    pub fn keys(&self, table: u32) -> Vec<Vec<u64>> {
        self.entries(table).map(|(key, _)| key.clone()).collect()
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
