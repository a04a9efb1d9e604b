//! Cache of recent lookups as words that machine code reads, for tables with one key element of at
//! most 64 bits.
//!
//! Each table has a fixed number of places; a new key replaces the previous key of its place. A
//! change of the table invalidates all its places.

use super::Datum;
use crate::ir::TableId;
use std::cell::Cell;

/// Words of a cache line: the table's change count at insertion, the key, the action, its data.
pub const LINE: usize = 8;
/// Words of action data per line.
pub const DATA: usize = LINE - 3;
/// Right shift of the product of key and [`FACTOR`], which yields one of 32 places.
pub const SHIFT: u32 = 64 - 5;
/// Multiplier of the hash.
pub const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// Words of a table: a line whose first word counts its changes, and the lines of keys.
pub const TABLE: usize = (1 + (1 << (64 - SHIFT))) * LINE;
/// Value of the action word if no action runs.
pub const NO_ACTION: u64 = u64::MAX;

/// Caches of all tables of a program, in one array.
#[derive(Clone, Debug)]
pub(in crate::interp) struct InlineCache(Box<[Cell<u64>]>);

impl InlineCache {
    /// Creates an empty cache.
    pub fn new(tables: usize) -> InlineCache {
        let words = InlineCache(vec![Cell::new(0); tables * TABLE].into());
        (0..tables).for_each(|table| words.invalidate(TableId(table as u32)));
        words
    }

    /// Invalidates the lines of a changed table.
    pub fn invalidate(&self, table: TableId) {
        if let Some(changes) = self.0.get(table.index() * TABLE) {
            changes.set(changes.get() + 1);
        }
    }

    /// Stores the action of a key, if any, with its data.
    #[inline]
    pub fn insert(&self, table: TableId, key: u128, action: Option<u32>, data: &[Datum]) {
        let Some(words) = self.0.get(table.index() * TABLE..) else { return };
        let Some(words) = words.first_chunk::<TABLE>() else { return };
        let Ok(key) = u64::try_from(key) else { return };
        if data.len() > DATA {
            return;
        }
        let place = (1 + (key.wrapping_mul(FACTOR) >> SHIFT) as usize) * LINE;
        let Some(line) = words[place..].first_chunk::<LINE>() else { return };
        // The line is invalid until it is complete.
        line[0].set(0);
        for (word, datum) in line[3..].iter().zip(data) {
            let Datum::Narrow(value) = datum else { return };
            let Ok(value) = u64::try_from(*value) else { return };
            word.set(value);
        }
        line[1].set(key);
        line[2].set(action.map_or(NO_ACTION, u64::from));
        line[0].set(words[0].get());
    }

    /// All words.
    #[inline]
    pub fn words(&self) -> &[Cell<u64>] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Action and first datum of a key, read as machine code does.
    fn found(inline_cache: &InlineCache, table: usize, key: u64) -> Option<(u64, u64)> {
        let words = &inline_cache.words()[table * TABLE..][..TABLE];
        let place = (1 + (key.wrapping_mul(FACTOR) >> SHIFT) as usize) * LINE;
        let line: Vec<u64> = words[place..][..LINE].iter().map(Cell::get).collect();
        (line[0] == words[0].get() && line[1] == key).then_some((line[2], line[3]))
    }

    #[test]
    fn a_cached_lookup_is_valid_until_its_table_changes() {
        let inline_cache = InlineCache::new(2);
        let (first, second) = (TableId(0), TableId(1));
        assert_eq!(found(&inline_cache, 0, 0), None);
        for key in 0..1_000_u64 {
            inline_cache.insert(first, key.into(), Some(1), &[Datum::Narrow(u128::from(key) + 5)]);
            inline_cache.insert(second, key.into(), None, &[]);
            assert_eq!(found(&inline_cache, 0, key), Some((1, key + 5)));
            assert_eq!(found(&inline_cache, 1, key).map(|found| found.0), Some(NO_ACTION));
        }
        inline_cache.invalidate(first);
        assert!((0..1_000).all(|key| found(&inline_cache, 0, key).is_none()));
        assert!((0..1_000).any(|key| found(&inline_cache, 1, key).is_some()));
    }

    #[test]
    fn a_result_that_does_not_fit_is_not_cached() {
        let inline_cache = InlineCache::new(1);
        let table = TableId(0);
        inline_cache.insert(table, 7, Some(1), &[Datum::Narrow(1)]);
        for data in [vec![Datum::Narrow(1 << 64)], vec![Datum::Narrow(1); DATA + 1]] {
            inline_cache.insert(table, 8, Some(1), &data);
            inline_cache.insert(table, 1 << 70, Some(1), &data[..1]);
            assert_eq!(found(&inline_cache, 0, 8), None);
        }
        assert_eq!(found(&inline_cache, 0, 7), Some((1, 1)));
    }
}
