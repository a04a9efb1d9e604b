//! The best value of a sliding window without storing the window: three candidates, each the best
//! since the one before it was seen (Kathleen Nichols' windowed filter, which Linux uses for the
//! least round-trip time and BBR for the greatest bandwidth). Must not depend on either use.

/// A value and when it was seen; instants are whatever grows: nanoseconds, round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    at: u64,
    value: u64,
}

/// The greatest value of a window of instants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WindowedMax {
    /// The best, the best since the best, and the best since that.
    best: [Seen; 3],
}

impl WindowedMax {
    /// A window in which `value` was seen at `at` and nothing else.
    pub(crate) fn new(at: u64, value: u64) -> WindowedMax {
        WindowedMax { best: [Seen { at, value }; 3] }
    }

    /// The greatest value.
    pub(crate) fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Sees `value` at `at`; what is older than `window` is forgotten.
    pub(crate) fn see(&mut self, window: u64, at: u64, value: u64) {
        let new = Seen { at, value };
        if value >= self.best[0].value || at - self.best[2].at > window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            (self.best[1], self.best[2]) = (new, new);
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        self.age(window, new);
    }

    /// Lets the best go when it is too old, and takes a successor from each later part of the
    /// window while the best still holds.
    fn age(&mut self, window: u64, new: Seen) {
        let age = new.at - self.best[0].at;
        if age > window {
            self.best = [self.best[1], self.best[2], new];
            if new.at - self.best[0].at > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].at == self.best[0].at && age > window / 4 {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].at == self.best[1].at && age > window / 2 {
            self.best[2] = new;
        }
    }
}

/// The least value of a window of instants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WindowedMin {
    /// Of the values' complements.
    max: WindowedMax,
}

impl WindowedMin {
    /// A window in which `value` was seen at `at` and nothing else.
    pub(crate) fn new(at: u64, value: u64) -> WindowedMin {
        WindowedMin { max: WindowedMax::new(at, !value) }
    }

    /// The least value.
    pub(crate) fn get(&self) -> u64 {
        !self.max.get()
    }

    /// Sees `value` at `at`; what is older than `window` is forgotten.
    pub(crate) fn see(&mut self, window: u64, at: u64, value: u64) {
        self.max.see(window, at, !value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_answer_is_a_value_of_the_window_and_a_new_greatest_is_seen_at_once(
            steps in proptest::collection::vec((0u64..4, 0u64..1000), 1..200)
        ) {
            let window = 20;
            let mut filter = WindowedMax::new(0, 0);
            let mut seen = vec![(0, 0)];
            let mut at = 0;
            for (gap, value) in steps {
                at += gap;
                filter.see(window, at, value);
                seen.push((at, value));
                let alive = |age: u64| seen.iter().filter(move |(t, _)| at - t <= age);
                prop_assert!(alive(window).any(|(_, v)| *v == filter.get()));
                // Three candidates cannot promise more: a value below all three is forgotten.
                if alive(window).all(|(_, v)| *v <= value) {
                    prop_assert_eq!(filter.get(), value);
                }
            }
        }
    }

    #[test]
    fn the_best_is_forgotten_after_a_window_and_its_successor_follows() {
        let mut filter = WindowedMax::new(0, 100);
        for at in 1..=10 {
            filter.see(10, at, 50 + at);
            assert_eq!(filter.get(), 100);
        }
        filter.see(10, 11, 1);
        assert_eq!(filter.get(), 60);
    }

    #[test]
    fn the_least_is_the_greatest_upside_down() {
        let mut filter = WindowedMin::new(0, u64::MAX);
        filter.see(10, 1, 7);
        filter.see(10, 2, 9);
        assert_eq!(filter.get(), 7);
    }
}
