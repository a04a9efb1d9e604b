//! Distributions of the sizes of transfers: bounded Pareto, or a table of cumulative shares.
//!
//! Logarithms and powers are computed by `libm` in software, so that they are the same bits on every
//! machine. The module must not depend on what a size is used for.

use super::RandomStream;
use crate::config::Interpolation;

/// All transfers, in the unit of a table's shares.
pub(crate) const ALL: u64 = 1_000_000_000;

/// A distribution of sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sizes {
    Pareto(Pareto),
    Table(SizeTable),
}

impl Sizes {
    /// A size, at least one byte.
    pub(crate) fn draw(&self, draws: &mut RandomStream) -> u64 {
        match self {
            Sizes::Pareto(pareto) => pareto.draw(draws),
            Sizes::Table(table) => table.draw(draws),
        }
    }

    /// The mean size in bytes.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Sizes::Pareto(pareto) => pareto.mean(),
            Sizes::Table(table) => table.mean(),
        }
    }
}

/// A bounded Pareto distribution of sizes in bytes: many small ones, few large ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pareto {
    /// The smallest.
    pub(crate) min: u64,
    /// The largest.
    pub(crate) max: u64,
    /// The shape, alpha: the smaller, the heavier the tail.
    pub(crate) shape: f64,
}

impl Pareto {
    fn draw(&self, draws: &mut RandomStream) -> u64 {
        let (low, high) = (self.min as f64, self.max as f64);
        let cut = 1.0 - libm::pow(low / high, self.shape);
        let drawn = low / libm::pow(1.0 - (1.0 - draws.unit()) * cut, 1.0 / self.shape);
        (drawn as u64).clamp(self.min, self.max)
    }

    fn mean(&self) -> f64 {
        let (low, high, shape) = (self.min as f64, self.max as f64, self.shape);
        if self.min == self.max {
            return low;
        }
        let cut = 1.0 - libm::pow(low / high, shape);
        if (shape - 1.0).abs() < 1e-9 {
            return low / cut * libm::log(high / low);
        }
        let tail = 1.0 - libm::pow(low / high, shape - 1.0);
        low * shape / (shape - 1.0) * tail / cut
    }
}

/// Cumulative shares of sizes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SizeTable {
    /// Bytes, and the share of transfers with at most so many; the first is (0, 0).
    points: Vec<(u64, u64)>,
    interpolation: Interpolation,
}

impl SizeTable {
    /// The table of checked points.
    pub(crate) fn new(points: &[(u64, u64)], interpolation: Interpolation) -> SizeTable {
        let points = [(0, 0)].into_iter().chain(points.iter().copied()).collect();
        SizeTable { points, interpolation }
    }

    fn draw(&self, draws: &mut RandomStream) -> u64 {
        // More than zero, at most all.
        let share = draws.unit() * ALL as f64;
        let place = self.points.partition_point(|(_, upto)| (*upto as f64) < share);
        let place = place.clamp(1, self.points.len() - 1);
        let [(low, from), (high, to)] = [self.points[place - 1], self.points[place]];
        let size = match self.interpolation {
            Interpolation::Lower => low,
            Interpolation::Linear => {
                let part = (share - from as f64) / (to - from) as f64;
                low + ((high - low) as f64 * part.clamp(0.0, 1.0)) as u64
            }
        };
        size.max(1)
    }

    fn mean(&self) -> f64 {
        let step = |two: &[(u64, u64)]| {
            let size = match self.interpolation {
                Interpolation::Lower => two[0].0 as f64,
                Interpolation::Linear => (two[0].0 as f64 + two[1].0 as f64) / 2.0,
            };
            size * (two[1].1 - two[0].1) as f64 / ALL as f64
        };
        self.points.windows(2).map(step).sum::<f64>().max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::StreamPurpose;

    fn draws() -> RandomStream {
        RandomStream::new(1, 9, StreamPurpose::Traffic)
    }

    #[test]
    fn sizes_stay_within_their_bounds_and_have_the_mean_of_the_formula() {
        for shape in [0.8, 1.0, 1.2, 2.5] {
            let sizes = Pareto { min: 2_000, max: 1_000_000, shape };
            let mut draws = draws();
            let drawn: Vec<u64> = (0..100_000).map(|_| sizes.draw(&mut draws)).collect();
            assert!(drawn.iter().all(|size| (2_000..=1_000_000).contains(size)));
            let mean = drawn.iter().sum::<u64>() as f64 / 100_000.0;
            assert!((mean / sizes.mean() - 1.0).abs() < 0.05, "{shape}: {mean} {}", sizes.mean());
            // Half of them are below the median of the formula.
            let cut = 1.0 - (2_000.0f64 / 1_000_000.0).powf(shape);
            let median = (2_000.0 / (1.0 - 0.5 * cut).powf(1.0 / shape)) as u64;
            let below = drawn.iter().filter(|size| **size <= median).count();
            assert!((49_000..=51_000).contains(&below), "{shape}: {below}");
        }
    }

    #[test]
    fn one_size_is_drawn_as_it_is() {
        let sizes = Pareto { min: 5_000, max: 5_000, shape: 1.2 };
        assert_eq!((sizes.draw(&mut draws()), sizes.mean()), (5_000, 5_000.0));
    }

    /// Web search of the DCTCP paper, figure 4, as published with HPCC; shares in percent.
    const WEB_SEARCH: [(u64, u64); 11] = [
        (10_000, 15),
        (20_000, 20),
        (30_000, 30),
        (50_000, 40),
        (80_000, 53),
        (200_000, 60),
        (1_000_000, 70),
        (2_000_000, 80),
        (5_000_000, 90),
        (10_000_000, 97),
        (30_000_000, 100),
    ];

    #[test]
    fn a_table_has_the_mean_of_its_interpolation_and_its_shares() {
        let points = WEB_SEARCH.map(|(size, percent)| (size, percent * ALL / 100));
        let cases = [(Interpolation::Linear, 1.711e6), (Interpolation::Lower, 0.988e6)];
        for (interpolation, mean) in cases {
            let table = SizeTable::new(&points, interpolation);
            assert!(
                (table.mean() / mean - 1.0).abs() < 1e-3,
                "{interpolation:?}: {}",
                table.mean()
            );
            let mut draws = draws();
            let drawn: Vec<u64> = (0..200_000).map(|_| table.draw(&mut draws)).collect();
            let measured = drawn.iter().sum::<u64>() as f64 / 200_000.0;
            assert!((measured / mean - 1.0).abs() < 0.02, "{interpolation:?}: {measured}");
            for (size, percent) in WEB_SEARCH {
                let smaller = drawn.iter().filter(|drawn| match interpolation {
                    Interpolation::Linear => **drawn <= size,
                    Interpolation::Lower => **drawn < size,
                });
                let share = smaller.count() as f64 / 2_000.0;
                assert!((share - percent as f64).abs() < 0.6, "{size}: {share} %");
            }
        }
    }

    #[test]
    fn a_step_of_one_size_and_a_share_of_nothing_are_drawn_as_they_are() {
        let table = SizeTable::new(&[(100, 0), (200, ALL)], Interpolation::Linear);
        let mut draws = draws();
        assert!((0..1_000).all(|_| (100..=200).contains(&table.draw(&mut draws))));
        let constant = SizeTable::new(&[(99, 0), (100, ALL)], Interpolation::Lower);
        assert!((0..100).all(|_| constant.draw(&mut draws) == 99));
    }
}
