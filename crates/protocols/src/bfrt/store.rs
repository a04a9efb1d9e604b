//! What clients have said that the program does not keep: rows of the fixed tables and of action
//! profiles, members of value sets.

use super::fields::Row;
use super::idle::Idle;
use super::schema::{Kind, Schema, Table};
use super::scope::Scope;
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use num_bigint::BigUint;
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

/// A key as it is kept: behind it, the first of the pipes that have the entry, unless that is pipe 0.
pub fn kept_key(mut key: Vec<u64>, first: u32) -> Vec<u64> {
    key.extend((first > 0).then_some(u64::from(first)));
    key
}

/// The first of the pipes that have the entry with a key of one element.
pub fn pipe_in(key: &[u64]) -> u32 {
    key.get(1).map_or(0, |pipe| *pipe as u32)
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Store {
    tables: BTreeMap<u32, Entries>,
    /// Members of value sets, by table and the first of the pipes that have them.
    pub members: BTreeMap<(u32, u32), Vec<Vec<MatchValue>>>,
    /// Counts as clients have seen or set them last, by table and cell: packets and bytes. What the
    /// chip has counted since is only read from the chip.
    pub counted: BTreeMap<(u32, u64), (u64, u64)>,
    /// Which bits of keys count, by table and key element, where clients have said so.
    pub key_masks: BTreeMap<u32, BTreeMap<u32, BigUint>>,
    /// Clocks of idle entries, by table.
    pub idle: BTreeMap<u32, Idle>,
    /// Scopes that clients have set, by table.
    pub scopes: BTreeMap<u32, bfrt::EntryScope>,
    /// By how much meters take packets to be longer, by table and pipe.
    pub longer: BTreeMap<(u32, u32), i32>,
    /// What default entries have beside an action: a member in its place, counts, rates.
    pub defaults: BTreeMap<u32, Row>,
    /// Ports that clients have taken out of `$PORT`.
    pub removed_ports: BTreeSet<u16>,
    /// Clients want to hear of ports that go up and down.
    pub tells_ports: bool,
}

impl Store {
    /// Which pipes the members and groups of a profile are in: those of the entries that name them.
    ///
    /// # Errors
    /// As for [`Scope::of`].
    pub fn scope_of_profile(&self, schema: &Schema, profile: &Table) -> Result<Scope, Failure> {
        let names = |table: &&Table| matches!(&table.kind, Kind::Match { profile: Some(name), .. } if *name == profile.inner);
        let mut users = schema.tables.values().filter(names);
        Scope::of(users.find_map(|table| self.scopes.get(&table.id)))
    }

    /// Entries of a table.
    pub fn entries(&self, table: u32) -> impl Iterator<Item = (&Vec<u64>, &Entry)> {
        self.tables.get(&table).into_iter().flatten()
    }

    /// How many entries a table has.
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

    /// Sets an entry, or takes it out.
    pub fn set(&mut self, table: u32, key: Vec<u64>, to: Option<Entry>) {
        let of_table = self.tables.entry(table).or_default();
        match to {
            Some(entry) => of_table.insert(key, entry),
            None => of_table.remove(&key),
        };
    }
}
