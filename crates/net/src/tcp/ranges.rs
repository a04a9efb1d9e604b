//! A set of byte ranges `[start, end)` that arrived, or were acknowledged, out of order.

use std::collections::VecDeque;

/// Disjoint, non-adjacent ranges in ascending order. New ranges are mostly near the end and old
/// ones leave at the front, which is what the deque is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeSet {
    ranges: VecDeque<(u64, u64)>,
}

impl RangeSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Ascending.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }

    /// The first range that ends at or behind `offset`.
    fn position(&self, offset: u64) -> usize {
        match self.ranges.back() {
            Some((start, end)) if *start <= offset && offset <= *end => self.ranges.len() - 1,
            _ => self.ranges.partition_point(|(_, end)| *end < offset),
        }
    }

    /// True if every byte of the range is in the set.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        // Ranges are not adjacent, so one of them must cover it alone.
        self.ranges.get(self.position(end)).is_some_and(|(s, e)| *s <= start && end <= *e)
    }

    /// End of the range that contains the byte at `offset`; absent if there is none.
    pub(crate) fn end_of_range_with(&self, offset: u64) -> Option<u64> {
        let (start, end) = self.ranges.get(self.position(offset + 1))?;
        (*start <= offset).then_some(*end)
    }

    /// Adds a range and returns the merged range.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> (u64, u64) {
        let first = self.position(start);
        let mut merged = (start, end);
        let mut last = first;
        while let Some((s, e)) = self.ranges.get(last)
            && *s <= merged.1
        {
            merged = (merged.0.min(*s), merged.1.max(*e));
            last += 1;
        }
        if last == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            if last - first > 1 {
                self.ranges.drain(first + 1..last);
            }
        }
        merged
    }

    /// Calls `gap` for each part of `[start, end)` that is not in the set, ascending.
    pub(crate) fn for_each_gap(&self, start: u64, end: u64, mut gap: impl FnMut(u64, u64)) {
        let mut at = start;
        for (s, e) in self.ranges.range(self.position(start)..) {
            if *s >= end {
                break;
            }
            if at < *s {
                gap(at, *s);
            }
            at = at.max(*e);
        }
        if at < end {
            gap(at, end);
        }
    }

    /// Forgets everything below `offset`; how many bytes that were.
    pub(crate) fn remove_below(&mut self, offset: u64) -> u64 {
        let mut removed = 0;
        while let Some(front) = self.ranges.front_mut()
            && front.0 < offset
        {
            removed += front.1.min(offset) - front.0;
            if front.1 > offset {
                front.0 = offset;
                break;
            }
            self.ranges.pop_front();
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn bytes(set: &RangeSet) -> BTreeSet<u64> {
        set.iter().flat_map(|(s, e)| s..e).collect()
    }

    proptest! {
        #[test]
        fn the_set_holds_exactly_the_bytes_put_in_and_not_removed(
            steps in proptest::collection::vec((0u64..60, 1u64..12, 0u64..60), 1..40)
        ) {
            let mut set = RangeSet::default();
            let mut model = BTreeSet::new();
            for (start, len, floor) in steps {
                let end = start + len;
                let mut gaps = BTreeSet::new();
                set.for_each_gap(start, end, |s, e| gaps.extend(s..e));
                let absent: BTreeSet<u64> = (start..end).filter(|b| !model.contains(b)).collect();
                prop_assert_eq!(gaps, absent.clone());
                prop_assert_eq!(set.covers(start, end), absent.is_empty());
                let merged = set.insert(start, end);
                model.extend(start..end);
                prop_assert!(merged.0 <= start && end <= merged.1);
                prop_assert!(set.iter().any(|range| range == merged));
                if floor < 20 {
                    let below = model.iter().filter(|b| **b < floor).count() as u64;
                    prop_assert_eq!(set.remove_below(floor), below);
                    model.retain(|b| *b >= floor);
                }
                prop_assert_eq!(bytes(&set), model.clone());
                let ranges: Vec<_> = set.iter().collect();
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}
