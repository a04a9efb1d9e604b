//! Cache of recent lookups in a table, since packets of one flow repeat the same keys.
//!
//! The cache has a fixed number of places; a new key replaces the previous key of its place. A
//! change of the table's entries invalidates all places.

use std::cell::Cell;

/// Number of places. The fewer different keys packets have, the more lookups hit.
const PLACES: usize = 128;

/// Cache of recent lookups: the index of each key's entry.
#[derive(Clone, Debug, Default)]
pub(super) struct CachedLookup {
    /// Empty until the table has had an entry.
    places: Box<[Cell<CachedEntry>]>,
    /// Number of changes of the table.
    change: u32,
}

/// Result of a key's lookup.
#[derive(Clone, Copy, Debug, Default)]
struct CachedEntry {
    key: [u128; 2],
    /// Change count at insertion; 0 for an empty place.
    change: u32,
    /// Index of the entry; misses are cached, too.
    found: Option<u32>,
}

impl CachedLookup {
    /// Invalidates all places.
    pub fn forget(&mut self) {
        if self.change == u32::MAX {
            // After an overflow an old count could recur.
            *self = CachedLookup::default();
        }
        self.change += 1;
        if self.places.is_empty() {
            self.places = vec![Cell::default(); PLACES].into();
        }
    }

    /// Result for a key: the cached one, or that of `search`.
    #[inline]
    pub fn find(&self, key: &[u128], search: impl FnOnce() -> Option<u32>) -> Option<u32> {
        let key = match *key {
            [a] => [a, 0],
            [a, b] => [a, b],
            _ => return search(),
        };
        let folded = key[0] as u64 ^ (key[0] >> 64) as u64 ^ (key[1] as u64).rotate_left(29);
        let at = (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57) as usize % PLACES;
        let Some(place) = self.places.get(at) else { return search() };
        let known = place.get();
        if known.change == self.change && known.key == key {
            return known.found;
        }
        let found = search();
        place.set(CachedEntry { key, change: self.change, found });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_found_entry_is_searched_once_until_the_table_changes() {
        let mut memo = CachedLookup::default();
        let searches = Cell::new(0);
        let find = |memo: &CachedLookup, key: &[u128], found| {
            memo.find(key, || {
                searches.set(searches.get() + 1);
                found
            })
        };
        // Nothing is cached for a table that has never had an entry.
        for _ in 0..2 {
            assert_eq!(find(&memo, &[0], None), None);
        }
        assert_eq!(searches.take(), 2);
        memo.forget();
        for _ in 0..3 {
            assert_eq!(find(&memo, &[0], Some(7)), Some(7));
            assert_eq!(find(&memo, &[1 << 90, 5], None), None);
        }
        assert_eq!(searches.take(), 2);
        memo.forget();
        assert_eq!(find(&memo, &[0], Some(8)), Some(8));
        assert_eq!(searches.take(), 1);
    }

    #[test]
    fn keys_that_have_one_place_are_distinguished() {
        let mut memo = CachedLookup::default();
        memo.forget();
        for round in 0..2 {
            for key in 0..1_000_u128 {
                let found = memo.find(&[key << (key % 100), key], || Some(key as u32));
                assert_eq!(found, Some(key as u32), "round {round}");
            }
        }
    }

    #[test]
    fn a_change_counter_that_comes_round_knows_nothing_of_before() {
        let mut memo = CachedLookup::default();
        memo.forget();
        assert_eq!(memo.find(&[3], || Some(1)), Some(1));
        memo.change = u32::MAX;
        memo.forget();
        assert_eq!((memo.change, memo.find(&[3], || Some(2))), (1, Some(2)));
    }
}
