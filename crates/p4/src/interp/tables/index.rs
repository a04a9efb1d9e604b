//! The search structure of a table: entries grouped by their masks, each group a hash table.
//!
//! A key of all-exact entries is one hash lookup; longest prefix matching is one per prefix length;
//! ternary tables cost one per distinct mask, cut short once nothing better can come. Ranges are
//! checked one by one behind the hash lookup.

use crate::interp::arith;
use crate::ir::{Pattern, Scalar};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// Who wins among entries that match: the greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Larger wins; 0 where the table has no priorities.
    pub priority: i64,
    /// Bits that are compared: longer prefixes win; 0 where priorities decide.
    pub prefix: u32,
    /// Among equals the first one wins.
    pub earlier: Reverse<u64>,
}

/// What an entry asks of one key element.
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

    /// How many bits are compared.
    pub fn mask_bits(&self) -> u32 {
        match self {
            Criterion::Masked { mask, .. } => mask.iter().map(|limb| limb.count_ones()).sum(),
            Criterion::Range(_) => 0,
        }
    }
}

impl RangeCheck {
    /// True if the key's element lies between the bounds.
    pub fn holds(&self, key: &[u128]) -> bool {
        let Some(value) = key.get(self.limb..self.limb + self.low.len()) else { return false };
        let value = || {
            let flips = std::iter::once(self.flip).chain(std::iter::repeat(0));
            value.iter().zip(flips).map(|(limb, flip)| limb ^ flip)
        };
        value().ge(self.low.iter().copied()) && value().le(self.high.iter().copied())
    }
}

/// An entry as the index sees it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub values: Box<[u128]>,
    pub masks: Box<[u128]>,
    pub ranges: Box<[RangeCheck]>,
    pub rank: Rank,
}

impl Row {
    pub fn new(criteria: Vec<Criterion>, rank: Rank) -> Row {
        let (mut values, mut masks, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
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
        Row { values: values.into(), masks: masks.into(), ranges: ranges.into(), rank }
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
struct Candidate {
    entry: u32,
    rank: Rank,
    ranges: Box<[RangeCheck]>,
}

#[derive(Clone, Debug)]
struct Group {
    masks: Box<[u128]>,
    /// No entry of the group ranks higher.
    best: Rank,
    /// Candidates in falling rank.
    rows: FxHashMap<Box<[u128]>, SmallVec<[Candidate; 1]>>,
}

impl Group {
    #[inline]
    fn lookup(&self, key: &[u128]) -> Option<&Candidate> {
        let mut masked = SmallVec::<[u128; 8]>::from_slice(key);
        masked.iter_mut().zip(&self.masks).for_each(|(limb, mask)| *limb &= mask);
        let candidates = self.rows.get(&masked[..])?;
        candidates.iter().find(|c| c.ranges.iter().all(|range| range.holds(key)))
    }
}

/// The entries of a table, ready to be searched.
#[derive(Clone, Debug)]
pub(super) struct Index {
    limbs: usize,
    /// In falling order of their best rank.
    groups: Vec<Group>,
}

impl Index {
    pub fn new(limbs: usize) -> Index {
        Index { limbs, groups: Vec::new() }
    }

    pub fn insert(&mut self, entry: u32, row: &Row) {
        debug_assert_eq!(row.masks.len(), self.limbs);
        let at = self.groups.iter().position(|group| group.masks == row.masks);
        let at = at.unwrap_or_else(|| {
            let rows = FxHashMap::default();
            self.groups.push(Group { masks: row.masks.clone(), best: row.rank, rows });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        let reorder = row.rank > group.best || group.rows.is_empty();
        group.best = group.best.max(row.rank);
        let candidates = group.rows.entry(row.values.clone()).or_default();
        let place = candidates.partition_point(|other| other.rank > row.rank);
        let ranges = row.ranges.clone();
        candidates.insert(place, Candidate { entry, rank: row.rank, ranges });
        if reorder {
            self.groups.sort_by_key(|group| Reverse(group.best));
        }
    }

    pub fn remove(&mut self, entry: u32, row: &Row) {
        let Some(at) = self.groups.iter().position(|group| group.masks == row.masks) else {
            return;
        };
        let group = &mut self.groups[at];
        if let Some(candidates) = group.rows.get_mut(&row.values) {
            candidates.retain(|candidate| candidate.entry != entry);
            if candidates.is_empty() {
                group.rows.remove(&row.values);
            }
        }
        if group.rows.is_empty() {
            self.groups.remove(at);
        }
    }

    /// Entries that might match exactly the same keys as `row`.
    pub fn twins<'i>(&'i self, row: &'i Row) -> impl Iterator<Item = u32> + 'i {
        let group = self.groups.iter().find(|group| group.masks == row.masks);
        let candidates = group.and_then(|group| group.rows.get(&row.values));
        candidates.into_iter().flatten().map(|candidate| candidate.entry)
    }

    #[inline]
    pub fn lookup(&self, key: &[u128]) -> Option<u32> {
        let mut winner: Option<&Candidate> = None;
        for group in &self.groups {
            if winner.is_some_and(|winner| winner.rank > group.best) {
                break;
            }
            if let Some(found) = group.lookup(key)
                && winner.is_none_or(|winner| found.rank > winner.rank)
            {
                winner = Some(found);
            }
        }
        winner.map(|candidate| candidate.entry)
    }
}
