//! Winner tree: finds the earliest pending instant in O(1), updates in O(log n) (Knuth, The Art of
//! Computer Programming 3, 5.4.1).
//!
//! Each entry has a leaf, and each inner node holds the earlier of its two children. The root
//! therefore holds the earliest of all. A change to a leaf recomputes the nodes on its path to the
//! root. Their positions are known beforehand, and the comparison has no branch to mispredict. The
//! tree costs less than a queue if the entries are known and each is reinserted after it was first.
//! It must not depend on the meaning of its entries.

use crate::event::Number;
use sojourn_packet::Time;
use std::hint::select_unpredictable;

/// Time of an event, and its order among the events of that time.
pub(crate) type Instant = (Time, Number);

/// Identifies a waiting entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaf(u32);

/// Upper bound of all pending times: 580 years.
pub(crate) const LAST: Time = Time(u64::MAX - (1 << 32));

/// A waiting entry or a free leaf.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    /// Its number, and its leaf.
    number_and_leaf: u64,
}

impl Entry {
    fn new((at, Number(number)): Instant, leaf: Leaf) -> Entry {
        let number_and_leaf = u64::from(number) << 32 | u64::from(leaf.0);
        Entry { at: at.min(LAST), number_and_leaf }
    }

    /// Content of a free leaf: later than all pending ones, and with a time of its own, since equal
    /// times would be ordered by number.
    fn free(leaf: u32) -> Entry {
        Entry { at: Time(u64::MAX - u64::from(leaf)), number_and_leaf: 0 }
    }

    fn number(self) -> Number {
        Number((self.number_and_leaf >> 32) as u32)
    }

    #[inline(always)]
    fn first(self, other: Entry) -> Entry {
        if self.at == other.at {
            return self.first_by_number(other);
        }
        let is_other = other.at < self.at;
        Entry {
            at: select_unpredictable(is_other, other.at, self.at),
            number_and_leaf: select_unpredictable(
                is_other,
                other.number_and_leaf,
                self.number_and_leaf,
            ),
        }
    }

    #[cold]
    #[inline(never)]
    fn first_by_number(self, other: Entry) -> Entry {
        if other.number().is_before(self.number()) { other } else { self }
    }
}

/// Two that are played against each other, in one line of the cache.
#[repr(align(32))]
#[derive(Clone, Copy, Debug)]
struct Pair([Entry; 2]);

/// A winner tree over entries that each have one instant.
#[derive(Debug)]
pub(crate) struct WinnerTree<T> {
    /// The pair below each node, the root's at 1: that of node `n` has the nodes `2n` and `2n + 1`. There
    /// are as many as leaves, a power of two.
    pairs: Vec<Pair>,
    /// The first of all.
    winner: Entry,
    /// The waiting values, by leaf.
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> WinnerTree<T> {
    pub(crate) fn new() -> WinnerTree<T> {
        let (pairs, values, free) = (Vec::new(), Vec::new(), Vec::new());
        WinnerTree { pairs, winner: Entry::free(0), values, free }
    }

    /// Time of the first of all; later than [`LAST`] if none is pending.
    #[inline]
    pub(crate) fn next_time(&self) -> Time {
        self.winner.at
    }

    /// The first of all, if any is pending: its time and its owner.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, T)> {
        let Entry { at, number_and_leaf } = self.winner;
        let values = || self.values[number_and_leaf as u32 as usize];
        (at <= LAST).then(|| ((at, self.winner.number()), values()))
    }

    /// One more waits.
    #[inline]
    pub(crate) fn insert(&mut self, values: T, due: Instant) -> Leaf {
        let leaf = Leaf(self.free.pop().unwrap_or_else(|| self.grow(values)));
        self.values[leaf.0 as usize] = values;
        self.set(leaf, Entry::new(due, leaf));
        leaf
    }

    /// One waits for something else now.
    #[inline]
    pub(crate) fn change(&mut self, leaf: Leaf, due: Instant) {
        self.set(leaf, Entry::new(due, leaf));
    }

    /// One does not wait any more.
    #[inline]
    pub(crate) fn remove(&mut self, leaf: Leaf) {
        self.set(leaf, Entry::free(leaf.0));
        self.free.push(leaf.0);
    }

    /// Puts an entry to a leaf and plays again what it may decide.
    #[inline]
    fn set(&mut self, leaf: Leaf, mut entry: Entry) {
        let mut node = self.pairs.len() + leaf.0 as usize;
        while node > 1 {
            let Pair(pair) = &mut self.pairs[node / 2];
            pair[node % 2] = entry;
            entry = entry.first(pair[1 - node % 2]);
            node /= 2;
        }
        self.winner = entry;
    }

    /// Twice as many leaves, with someone for the new ones until they are taken; one of them.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, values: T) -> u32 {
        let before = self.pairs.len();
        let leaves = (2 * before).max(2);
        let entries: Vec<Entry> = (0..before).map(|leaf| self.entry(leaf)).collect();
        self.pairs = vec![Pair([Entry::free(0); 2]); leaves];
        for leaf in 0..leaves as u32 {
            let entry = entries.get(leaf as usize).copied().unwrap_or(Entry::free(leaf));
            self.set(Leaf(leaf), entry);
        }
        self.values.resize(leaves, values);
        self.free.extend((before as u32 + 1..leaves as u32).rev());
        before as u32
    }

    /// Content of a leaf.
    fn entry(&self, leaf: usize) -> Entry {
        let node = self.pairs.len() + leaf;
        self.pairs[node / 2].0[node % 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn of_two_at_one_instant_the_one_whose_number_was_taken_first_comes_first() {
        for numbers in [[Number(7), Number(8)], [Number(u32::MAX), Number(0)]] {
            for order in [[0, 1], [1, 0]] {
                let mut tree = WinnerTree::new();
                for which in order {
                    tree.insert(which, (Time(5), numbers[which]));
                }
                assert_eq!(tree.first(), Some(((Time(5), numbers[0]), 0)));
            }
        }
    }

    /// Operation on an element that may be pending.
    #[derive(Clone, Debug)]
    enum Step {
        Waits { name: u32, at: u64 },
        Leaves { name: u32 },
    }

    fn step() -> impl Strategy<Value = Step> {
        let name = 0..40u32;
        let waits = (name.clone(), 0..30u64).prop_map(|(name, at)| Step::Waits { name, at });
        prop_oneof![3 => waits, 1 => name.prop_map(|name| Step::Leaves { name })]
    }

    proptest! {
        #[test]
        fn the_first_is_that_of_a_sorted_map_whoever_comes_changes_and_goes(
            steps in proptest::collection::vec(step(), 1..300)
        ) {
            let mut tree = WinnerTree::new();
            let mut leaves = BTreeMap::new();
            let mut model: BTreeMap<u32, (Time, u32)> = BTreeMap::new();
            for (number, step) in (0..).zip(steps) {
                match step {
                    Step::Waits { name, at } => {
                        let due = (Time(at), Number(number));
                        match leaves.get(&name) {
                            Some(leaf) => tree.change(*leaf, due),
                            None => {
                                leaves.insert(name, tree.insert(name, due));
                            }
                        }
                        model.insert(name, (Time(at), number));
                    }
                    Step::Leaves { name } => {
                        model.remove(&name);
                        if let Some(leaf) = leaves.remove(&name) {
                            tree.remove(leaf);
                        }
                    }
                }
                let first = model.iter().min_by_key(|(_, due)| **due);
                let first = first.map(|(name, (at, number))| ((*at, Number(*number)), *name));
                prop_assert_eq!(tree.first(), first);
                prop_assert!(tree.next_time() > LAST || first.is_some());
            }
        }
    }
}
