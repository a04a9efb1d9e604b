//! Match tables and value sets: filled by the control plane, looked up by packets.
//!
//! Uses the IR's description of tables. A lookup allocates nothing and uses no names; `control_api`
//! resolves all names, and is the only way to add entries from outside. The interpreter executes
//! the actions.

mod bulk_entries;
mod control_api;
mod error;
mod index;
pub mod inline_cache;
mod lookup_cache;
mod read;
#[cfg(test)]
mod tests;
mod value_set;

pub use bulk_entries::{EntryTemplate, Form, Rows};
pub use control_api::{EntrySpec, EntryTarget, Match, TableUndo};
pub use error::TableError;
pub use read::EntryView;
pub use value_set::ValueSetState;

use self::inline_cache::InlineCache;
use crate::interp::arith;
use crate::ir::{self, Pattern, Program, Scalar, TableId, ValueSetId};
use index::{Criterion, Index, Rank, Row};
use lookup_cache::CachedLookup;
use num_bigint::BigUint;
use smallvec::{Array, SmallVec};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Handle of a table entry. Handles are small and reused after a deletion, so that a target can
/// index per-entry state (direct registers, counters) by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryHandle(pub u32);

impl EntryHandle {
    /// Index into per-entry state.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value of action data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Datum {
    /// At most 128 bits.
    Narrow(u128),
    /// Wider.
    Wide(BigUint),
}

impl Datum {
    fn new(value: &BigUint) -> Datum {
        if value.bits() <= 128 {
            Datum::Narrow(arith::narrowed(value))
        } else {
            Datum::Wide(value.clone())
        }
    }
}

/// An action with its data, as a table stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionData {
    /// Index into [`ir::Table::actions`].
    pub action: u32,
    /// In the order of [`ir::TableAction::data`].
    pub data: SmallVec<[Datum; 1]>,
}

impl ActionData {
    fn new(action: u32, data: &[BigUint]) -> ActionData {
        ActionData { action, data: data.iter().map(Datum::new).collect() }
    }
}

/// Result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'t> {
    /// An action.
    Action(&'t ActionData),
    /// A member or group of the table's `implementation`.
    Reference(u32),
    /// Nothing: a miss without a default action.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Action(ActionData),
    Reference(u32),
}

#[derive(Clone, Debug)]
struct Entry {
    target: Target,
    row: Row,
    is_const: bool,
}

/// A column of a key: an element that takes part in matching (all but `selector`).
#[derive(Clone, Debug)]
struct Column {
    /// Index of the key element.
    key: usize,
    scalar: Scalar,
    /// Index of its first limb in a lookup key.
    limb: usize,
}

/// Number of 128-bit limbs of a scalar in a lookup key; at least one.
fn limbs(scalar: Scalar) -> usize {
    scalar.width().div_ceil(128).max(1) as usize
}

/// Appends the limbs of a value, the highest first.
pub(super) fn push_limbs<A: Array<Item = u128>>(
    value: &BigUint,
    scalar: Scalar,
    out: &mut SmallVec<A>,
) {
    for limb in (0..limbs(scalar)).rev() {
        out.push(arith::narrowed(&(value >> (128 * limb))));
    }
}

/// Default entry declared by the program.
fn declared_default(table: &ir::Table) -> Option<Target> {
    let (action, data) = table.default_action.as_ref()?;
    Some(Target::Action(ActionData::new(*action, data)))
}

/// One table's entries and default action.
#[derive(Clone, Debug)]
pub struct TableState {
    columns: Vec<Column>,
    /// By key element: true for those of kind `selector`, which take no part in matching.
    selectors: Box<[bool]>,
    /// True if priorities order the entries; else longer prefixes win.
    prioritised: bool,
    entries: Vec<Option<Entry>>,
    /// Free handles; the lowest is reused first, as in bmv2.
    free: BTreeSet<u32>,
    index: Index,
    memo: CachedLookup,
    default: Option<Target>,
    /// Number of entries, including the default, that refer to each member or group of the
    /// implementation.
    references: HashMap<u32, u32>,
    sequence: u64,
    /// Bits of the key that count, by limb, if a control plane restricts them.
    counting: Option<Box<[u128]>>,
}

impl TableState {
    fn new(table: &ir::Table) -> TableState {
        let mut limb = 0;
        let mut columns = Vec::new();
        for (key, element) in table.keys.iter().enumerate() {
            if &*element.match_kind != "selector" {
                let scalar = element.expr.scalar;
                columns.push(Column { key, scalar, limb });
                limb += limbs(scalar);
            }
        }
        let prioritised =
            table.keys.iter().any(|k| !matches!(&*k.match_kind, "exact" | "lpm" | "selector"));
        let default = declared_default(table);
        let selectors = table.keys.iter().map(|key| &*key.match_kind == "selector").collect();
        let mut state = TableState {
            columns,
            selectors,
            prioritised,
            entries: Vec::new(),
            free: BTreeSet::new(),
            index: Index::new(limb),
            memo: CachedLookup::default(),
            default,
            references: HashMap::new(),
            sequence: 0,
            counting: None,
        };
        for entry in &table.entries {
            let row = state.row(&entry.patterns, entry.priority);
            let target = Target::Action(ActionData::new(entry.action, &entry.data));
            let is_const = table.const_entries || entry.is_const;
            state.insert(Entry { target, row, is_const });
        }
        state
    }

    /// Row of patterns, one per key element.
    fn row(&mut self, patterns: &[Pattern], priority: i64) -> Row {
        let mut criteria = Vec::with_capacity(self.columns.len());
        let mut prefix = 0;
        for column in &self.columns {
            let pattern = patterns.get(column.key).unwrap_or(&Pattern::Any);
            let criterion = Criterion::new(pattern, column.scalar, column.limb);
            prefix += criterion.mask_bits();
            criteria.push(criterion);
        }
        self.sequence += 1;
        let (priority, prefix) = if self.prioritised { (priority, 0) } else { (0, prefix) };
        let mut row =
            Row::new(criteria, Rank { priority, prefix, earlier: Reverse(self.sequence) });
        if let Some(counting) = &self.counting {
            row.keep(counting);
        }
        row
    }

    /// Restricts matching to these bits, by column.
    fn count_only(&mut self, masks: &[BigUint]) {
        let mut counting = SmallVec::<[u128; 8]>::new();
        for (column, mask) in self.columns.iter().zip(masks) {
            push_limbs(mask, column.scalar, &mut counting);
        }
        self.counting = Some(counting.into_vec().into());
    }

    /// The row of a key whose elements have one limb each.
    fn masked_row(
        &mut self,
        values: SmallVec<[u128; 1]>,
        masks: Arc<[u128]>,
        priority: i64,
    ) -> Row {
        self.sequence += 1;
        let bits = || masks.iter().map(|mask| mask.count_ones()).sum();
        let (priority, prefix) = if self.prioritised { (priority, 0) } else { (0, bits()) };
        let rank = Rank { priority, prefix, earlier: Reverse(self.sequence) };
        let mut row = Row { values, masks, ranges: Box::default(), rank };
        if let Some(counting) = &self.counting {
            row.keep(counting);
        }
        row
    }

    /// Reserves memory for `more` entries.
    fn reserve(&mut self, more: usize) {
        self.entries.reserve(more.saturating_sub(self.free.len()));
    }

    fn insert(&mut self, entry: Entry) -> EntryHandle {
        let at = self.free.pop_first().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        self.refer(&entry.target);
        self.entries[at as usize] = Some(entry);
        self.index.insert(at, &mut self.entries);
        self.memo.forget();
        EntryHandle(at)
    }

    /// Counts a reference to a target.
    fn refer(&mut self, to: &Target) {
        if let Target::Reference(to) = to {
            *self.references.entry(*to).or_default() += 1;
        }
    }

    /// Removes a reference to a target.
    fn release(&mut self, from: &Target) {
        if let Target::Reference(from) = from
            && let Some(count) = self.references.get_mut(from)
        {
            *count -= 1;
            if *count == 0 {
                self.references.remove(from);
            }
        }
    }

    /// Replaces the target of an entry; returns the previous one, `None` if there is no such entry.
    fn lead(&mut self, handle: EntryHandle, to: Target) -> Option<Target> {
        self.entries.get(handle.index())?.as_ref()?;
        self.refer(&to);
        let entry = self.entries.get_mut(handle.index())?.as_mut()?;
        let was = std::mem::replace(&mut entry.target, to);
        self.release(&was);
        Some(was)
    }

    /// Replaces the default target; returns the previous one.
    fn lead_misses(&mut self, to: Option<Target>) -> Option<Target> {
        to.iter().for_each(|to| self.refer(to));
        let was = std::mem::replace(&mut self.default, to);
        was.iter().for_each(|was| self.release(was));
        was
    }

    /// Number of entries, including the default, that refer to a member or group of the
    /// implementation.
    pub fn references(&self, to: u32) -> u32 {
        self.references.get(&to).copied().unwrap_or(0)
    }

    fn remove(&mut self, handle: EntryHandle) -> Option<Entry> {
        self.index.remove(handle.0, &self.entries);
        self.memo.forget();
        let entry = self.entries.get_mut(handle.index())?.take()?;
        self.release(&entry.target);
        self.free.insert(handle.0);
        Some(entry)
    }

    /// Removes the entries that were added last, given in this order.
    fn take_out(&mut self, handles: Vec<EntryHandle>) {
        handles.into_iter().rev().for_each(|handle| drop(self.remove(handle)));
    }

    /// Restores the entry that was removed last.
    fn put_back(&mut self, handle: EntryHandle, entry: Entry) {
        self.free.remove(&handle.0);
        self.refer(&entry.target);
        if let Some(place) = self.entries.get_mut(handle.index()) {
            *place = Some(entry);
            self.index.insert(handle.0, &mut self.entries);
            self.memo.forget();
        }
    }

    /// By key element: true for those that choose among a group's members.
    #[inline]
    pub(super) fn selectors(&self) -> &[bool] {
        &self.selectors
    }

    /// The entry that matches a key: the limbs of all elements but those of kind `selector`.
    #[inline]
    pub fn lookup(&self, key: &[u128]) -> Option<EntryHandle> {
        // A table without a key has no entries and always misses.
        if self.columns.is_empty() {
            return None;
        }
        self.memo.find(key, || self.index.lookup(key, &self.entries)).map(EntryHandle)
    }

    /// Target of an entry, or of a miss.
    #[inline]
    pub fn found(&self, entry: Option<EntryHandle>) -> Found<'_> {
        let entry = entry.and_then(|handle| self.entries.get(handle.index())?.as_ref());
        match entry.map(|entry| &entry.target).or(self.default.as_ref()) {
            Some(Target::Action(data)) => Found::Action(data),
            Some(Target::Reference(reference)) => Found::Reference(*reference),
            None => Found::Nothing,
        }
    }

    /// The action that runs on a miss, unless the default is a member or a group of the table's
    /// `implementation`.
    pub fn default_action(&self) -> Option<&ActionData> {
        match &self.default {
            Some(Target::Action(data)) => Some(data),
            _ => None,
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The handles of all entries, in ascending order.
    pub fn handles(&self) -> impl Iterator<Item = EntryHandle> + '_ {
        let present =
            |(at, entry): (usize, &Option<Entry>)| entry.as_ref().map(|_| EntryHandle(at as u32));
        self.entries.iter().enumerate().filter_map(present)
    }
}

/// All tables and value sets of a program, with the entries in its text.
#[derive(Clone, Debug)]
pub struct Tables {
    program: Arc<Program>,
    tables: Vec<TableState>,
    inline_cache: InlineCache,
    value_sets: Vec<ValueSetState>,
}

impl Tables {
    /// The tables of a newly loaded program.
    pub fn new(program: Arc<Program>) -> Tables {
        let tables: Vec<TableState> = program.tables.iter().map(TableState::new).collect();
        let value_sets = program.value_sets.iter().map(ValueSetState::new).collect();
        Tables { program, inline_cache: InlineCache::new(tables.len()), tables, value_sets }
    }

    /// A table's state, mutable; counts a change.
    fn changed(&mut self, id: TableId) -> Option<&mut TableState> {
        self.inline_cache.invalidate(id);
        self.tables.get_mut(id.index())
    }

    /// Cache of recent lookups, for machine code.
    #[inline]
    pub(super) fn inline_cache(&self) -> &InlineCache {
        &self.inline_cache
    }

    /// A table's state.
    #[inline]
    pub fn get(&self, id: TableId) -> Option<&TableState> {
        self.tables.get(id.index())
    }

    /// A value set's state.
    #[inline]
    pub fn value_set(&self, id: ValueSetId) -> Option<&ValueSetState> {
        self.value_sets.get(id.index())
    }
}
