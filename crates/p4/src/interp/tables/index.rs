//! The search structure of a table: entries grouped by their masks, each group a hash table.
//!
//! A key of all-exact entries is one hash lookup; longest prefix matching is one per prefix length;
//! ternary tables cost one per distinct mask, cut short once nothing better can come. Ranges are
//! checked one by one behind the hash lookup.

use super::Entry;
use crate::interp::arith;
use crate::ir::{Pattern, Scalar};
use hashbrown::HashTable;
use num_bigint::BigUint;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Rank of a matching entry: the greatest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Larger wins; 0 if the table has no priorities.
    pub priority: i64,
    /// Number of bits compared: longer prefixes win; 0 if priorities decide.
    pub prefix: u32,
    /// Among equals the earliest wins.
    pub earlier: Reverse<u64>,
}

/// Requirement of an entry on one key element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Criterion {
    /// Limbs of value and mask.
    Masked { value: SmallVec<[u128; 1]>, mask: SmallVec<[u128; 1]> },
    /// Between two bounds.
    Range(RangeCheck),
}

/// A range of one key element; limbs are compared after flipping the sign, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RangeCheck {
    limb: usize,
    flip: u128,
    low: SmallVec<[u128; 1]>,
    high: SmallVec<[u128; 1]>,
}

/// The limbs of a value, the highest first.
fn split(value: &BigUint, scalar: Scalar) -> SmallVec<[u128; 1]> {
    let mut limbs = SmallVec::new();
    super::push_limbs(value, scalar, &mut limbs);
    limbs
}

impl Criterion {
    pub fn new(pattern: &Pattern, scalar: Scalar, limb: usize) -> Criterion {
        let full = arith::wide_mask(scalar.width());
        let masked = |value: BigUint, mask: BigUint| Criterion::Masked {
            value: split(&(value & &mask), scalar),
            mask: split(&mask, scalar),
        };
        match pattern {
            Pattern::Value(value) => masked(value.clone(), full),
            Pattern::Mask(value, mask) => masked(value.clone(), mask & full),
            Pattern::Any | Pattern::ValueSet(_) => masked(BigUint::ZERO, BigUint::ZERO),
            Pattern::Range(low, high) => {
                let top = (scalar.width().max(1) - 1) % 128;
                let flip = if scalar.is_signed() { 1 << top } else { 0 };
                let mut bounds = [split(low, scalar), split(high, scalar)];
                bounds.iter_mut().for_each(|bound| bound[0] ^= flip);
                let [low, high] = bounds;
                Criterion::Range(RangeCheck { limb, flip, low, high })
            }
        }
    }

    /// Number of bits compared.
    pub fn mask_bits(&self) -> u32 {
        match self {
            Criterion::Masked { mask, .. } => mask.iter().map(|limb| limb.count_ones()).sum(),
            Criterion::Range(_) => 0,
        }
    }
}

impl RangeCheck {
    /// True if the key's element is within the bounds.
    #[inline]
    pub fn holds(&self, key: &[u128]) -> bool {
        if let ([low], [high]) = (&*self.low, &*self.high) {
            return key
                .get(self.limb)
                .is_some_and(|value| (low..=high).contains(&&(value ^ self.flip)));
        }
        self.holds_wide(key)
    }

    /// [`RangeCheck::holds`] with bounds of more than one limb.
    fn holds_wide(&self, key: &[u128]) -> bool {
        let Some(value) = key.get(self.limb..self.limb + self.low.len()) else { return false };
        let value = || {
            let flips = std::iter::once(self.flip).chain(std::iter::repeat(0));
            value.iter().zip(flips).map(|(limb, flip)| limb ^ flip)
        };
        value().ge(self.low.iter().copied()) && value().le(self.high.iter().copied())
    }
}

/// Search form of an entry.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub values: SmallVec<[u128; 1]>,
    pub masks: Arc<[u128]>,
    pub ranges: Box<[RangeCheck]>,
    pub rank: Rank,
}

impl Row {
    pub fn new(criteria: Vec<Criterion>, rank: Rank) -> Row {
        let (mut values, mut masks, mut ranges) = (SmallVec::new(), Vec::new(), Vec::new());
        for criterion in criteria {
            match criterion {
                Criterion::Masked { value, mask } => {
                    values.extend(value);
                    masks.extend(mask);
                }
                Criterion::Range(range) => {
                    values.extend(range.low.iter().map(|_| 0));
                    masks.extend(range.low.iter().map(|_| 0));
                    ranges.push(range);
                }
            }
        }
        Row { values, masks: masks.into(), ranges: ranges.into(), rank }
    }

    /// Restricts the row to these bits of the key.
    pub fn keep(&mut self, bits: &[u128]) {
        self.masks = self.masks.iter().zip(bits).map(|(mask, bits)| mask & bits).collect();
        self.values.iter_mut().zip(bits).for_each(|(value, bits)| *value &= bits);
    }

    /// The bounds of the range of the key element at a limb, if it has one.
    pub fn bounds(&self, limb: usize) -> Option<[SmallVec<[u128; 1]>; 2]> {
        let range = self.ranges.iter().find(|range| range.limb == limb)?;
        let unflipped = |bound: &SmallVec<[u128; 1]>| {
            let mut bound = bound.clone();
            bound[0] ^= range.flip;
            bound
        };
        Some([unflipped(&range.low), unflipped(&range.high)])
    }

    /// True if both match the same keys.
    pub fn same_match(&self, other: &Row) -> bool {
        self.values == other.values && self.masks == other.masks && self.ranges == other.ranges
    }

    /// True if the key matches.
    pub fn matches(&self, key: &[u128]) -> bool {
        let masked = self.masks.iter().zip(key).map(|(mask, key)| mask & key);
        masked.eq(self.values.iter().copied()) && self.ranges.iter().all(|range| range.holds(key))
    }
}

#[derive(Clone, Debug)]
struct Group {
    masks: Arc<[u128]>,
    /// No entry of the group ranks higher.
    best: Rank,
    /// Indices of entries, found by the values of their rows. The values are stored only in the
    /// table's entries, which a lookup reads anyway.
    found: HashTable<u32>,
    /// True if some entries have, or had, equal values, distinguished by ranges or priorities.
    several: bool,
}

fn hash(values: &[u128]) -> u64 {
    FxBuildHasher.hash_one(values)
}

/// The row of an indexed entry.
#[inline]
fn row(entries: &[Option<Entry>], at: u32) -> Option<&Row> {
    entries.get(at as usize)?.as_ref().map(|entry| &entry.row)
}

#[inline]
fn has_values(entries: &[Option<Entry>], at: u32, values: &[u128]) -> bool {
    row(entries, at).is_some_and(|row| match (&row.values[..], values) {
        ([a], [b]) => a == b,
        (row, values) => row == values,
    })
}

fn hash_of(entries: &[Option<Entry>], at: u32) -> u64 {
    row(entries, at).map_or(0, |row| hash(&row.values))
}

impl Group {
    #[inline]
    fn lookup<'e>(&self, key: &[u128], entries: &'e [Option<Entry>]) -> Option<(u32, &'e Row)> {
        if let ([limb], [mask]) = (key, &*self.masks) {
            return self.lookup_masked(key, &[limb & mask], entries);
        }
        let mut masked = SmallVec::<[u128; 8]>::from_slice(key);
        masked.iter_mut().zip(&*self.masks).for_each(|(limb, mask)| *limb &= mask);
        self.lookup_masked(key, &masked, entries)
    }

    #[inline]
    fn lookup_masked<'e>(
        &self,
        key: &[u128],
        masked: &[u128],
        entries: &'e [Option<Entry>],
    ) -> Option<(u32, &'e Row)> {
        let holds = |row: &Row| row.ranges.iter().all(|range| range.holds(key));
        if !self.several {
            let at = self.one(masked, entries)?;
            return row(entries, at).filter(|row| holds(row)).map(|row| (at, row));
        }
        let rows = self.all(masked, entries).filter_map(|at| Some((at, row(entries, at)?)));
        rows.filter(|(_, row)| holds(row)).max_by_key(|(_, row)| row.rank)
    }

    /// An entry with these values.
    #[inline]
    fn one(&self, values: &[u128], entries: &[Option<Entry>]) -> Option<u32> {
        self.found.find(hash(values), |at| has_values(entries, *at, values)).copied()
    }

    /// All entries with these values, in no order.
    fn all<'i>(
        &'i self,
        values: &'i [u128],
        entries: &'i [Option<Entry>],
    ) -> impl Iterator<Item = u32> + 'i {
        let found = self.found.iter_hash(hash(values)).copied();
        found.filter(move |at| has_values(entries, *at, values))
    }
}

/// Search index of a table's entries.
#[derive(Clone, Debug)]
pub(super) struct Index {
    limbs: usize,
    /// Groups, in descending order of their best rank.
    groups: Vec<Group>,
}

impl Index {
    pub fn new(limbs: usize) -> Index {
        Index { limbs, groups: Vec::new() }
    }

    /// Adds the entry at index `at` of `entries`.
    pub fn insert(&mut self, at: u32, entries: &mut [Option<Entry>]) {
        let Some(new) = entries.get_mut(at as usize).and_then(Option::as_mut) else { return };
        debug_assert_eq!(new.row.masks.len(), self.limbs);
        let rank = new.row.rank;
        let place = self.groups.iter().position(|group| group.masks == new.row.masks);
        let place = place.unwrap_or_else(|| {
            let masks = new.row.masks.clone();
            self.groups.push(Group { masks, best: rank, found: HashTable::new(), several: false });
            self.groups.len() - 1
        });
        let group = &mut self.groups[place];
        // Rows of a group share its masks.
        new.row.masks.clone_from(&group.masks);
        let reorder = rank > group.best || group.found.is_empty();
        group.best = group.best.max(rank);
        let entries = &*entries;
        let Some(row) = row(entries, at) else { return };
        group.several |= group.one(&row.values, entries).is_some();
        group.found.insert_unique(hash(&row.values), at, |at| hash_of(entries, *at));
        if reorder {
            self.groups.sort_by_key(|group| Reverse(group.best));
        }
    }

    /// Removes the entry at index `at`, which must still be in `entries`.
    pub fn remove(&mut self, at: u32, entries: &[Option<Entry>]) {
        let Some(row) = row(entries, at) else { return };
        let Some(place) = self.groups.iter().position(|group| group.masks == row.masks) else {
            return;
        };
        let group = &mut self.groups[place];
        if let Ok(found) = group.found.find_entry(hash(&row.values), |found| *found == at) {
            found.remove();
        }
        if group.found.is_empty() {
            self.groups.remove(place);
        }
    }

    /// Entries that might match exactly the same keys as `row`.
    pub fn twins<'i>(
        &'i self,
        row: &'i Row,
        entries: &'i [Option<Entry>],
    ) -> impl Iterator<Item = u32> + 'i {
        let group = self.groups.iter().find(|group| group.masks == row.masks);
        group.into_iter().flat_map(|group| group.all(&row.values, entries))
    }

    #[inline(never)]
    pub fn lookup(&self, key: &[u128], entries: &[Option<Entry>]) -> Option<u32> {
        let mut winner: Option<(u32, Rank)> = None;
        for group in &self.groups {
            if winner.is_some_and(|(_, rank)| rank > group.best) {
                break;
            }
            if let Some((at, found)) = group.lookup(key, entries)
                && winner.is_none_or(|(_, rank)| found.rank > rank)
            {
                winner = Some((at, found.rank));
            }
        }
        winner.map(|(at, _)| at)
    }
}
