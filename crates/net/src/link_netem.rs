//! Random loss, duplication, reordering and jitter of one direction of a link, as Linux's `netem`
//! decides them (`net/sched/sch_netem.c`, `tc-netem(8)`).
//!
//! Each frame draws in netem's order: duplication, loss, then for each copy reordering and delay.
//! A copy draws its own loss and delay and is not copied again. Correlated numbers are netem's: the
//! mean of a new number and the previous one, weighted by the correlation. As in netem, such numbers
//! are less spread than uniform ones, so a correlated loss below 50 % is rarer than configured.
//!
//! Two differences from netem: a correlated jitter uses the high bits of its number, so that the
//! correlation reaches the delay; and the normal distribution is computed, not read from a file.
//! The module must not depend on a frame's content.

use crate::app::{RandomStream, StreamPurpose};
use crate::config::{CERTAIN, DelayDistribution, LinkNetem};
use sojourn_packet::Time;
use std::sync::OnceLock;

/// Quantiles of the normal distribution that a delay is drawn from; netem's tables have as many.
const QUANTILES: usize = 4096;

/// One direction of a link that treats frames at random.
#[derive(Clone, Debug)]
pub(crate) struct RandomLink {
    given: LinkNetem,
    draws: RandomStream,
    /// The previous number of each kind.
    last: Last,
    /// Frames since the last reordered one.
    since: u32,
    /// Arrival of the last frame, if frames cannot overtake each other.
    latest: Time,
    counts: RandomCounts,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    loss: u32,
    duplicate: u32,
    reorder: u32,
    jitter: u32,
}

/// The decisions of one direction of a link. `frames + duplicated - lost` frames have arrived or
/// are on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RandomCounts {
    /// Frames that the link took.
    pub(crate) frames: u64,
    /// Frames and copies that it lost.
    pub(crate) lost: u64,
    /// Copies that it made.
    pub(crate) duplicated: u64,
    /// Frames and copies that did not take the delay.
    pub(crate) reordered: u64,
}

/// Arrivals of a frame: none, one or two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrivals {
    pub(crate) frame: Option<Time>,
    pub(crate) copy: Option<Time>,
}

impl RandomLink {
    /// `number` is the direction's own among all of a run; it selects the random numbers.
    pub(crate) fn new(given: LinkNetem, seed: u64, number: u32) -> RandomLink {
        let mut draws = RandomStream::new(seed, number, StreamPurpose::Link);
        let mut word = || draws.word();
        let last = Last { loss: word(), duplicate: word(), reorder: word(), jitter: word() };
        let (latest, counts) = (Time::ZERO, RandomCounts::default());
        RandomLink { given, draws, last, since: 0, latest, counts }
    }

    /// The decisions so far.
    pub(crate) fn counts(&self) -> RandomCounts {
        self.counts
    }

    /// A frame whose last bit is on the link at `through`, to be delayed by about `delay`.
    pub(crate) fn carry(&mut self, through: Time, delay: Time) -> Arrivals {
        let LinkNetem { loss, loss_correlation, duplicate, duplicate_correlation, .. } = self.given;
        self.counts.frames += 1;
        let twice =
            drawn(&mut self.draws, &mut self.last.duplicate, duplicate, duplicate_correlation);
        let lost = drawn(&mut self.draws, &mut self.last.loss, loss, loss_correlation);
        self.counts.duplicated += u64::from(twice);
        self.counts.lost += u64::from(lost);
        let mut arrivals = Arrivals::default();
        if twice && !lost {
            // The copy passes netem from the start, before the frame itself is delayed.
            let gone = drawn(&mut self.draws, &mut self.last.loss, loss, loss_correlation);
            self.counts.lost += u64::from(gone);
            arrivals.copy = (!gone).then(|| self.arrival(through, delay));
        }
        if twice || !lost {
            arrivals.frame = Some(self.arrival(through, delay));
        }
        arrivals
    }

    fn arrival(&mut self, through: Time, delay: Time) -> Time {
        let LinkNetem { reorder, reorder_correlation, gap, .. } = self.given;
        if reorder > 0
            && self.since >= gap - 1
            && drawn(&mut self.draws, &mut self.last.reorder, reorder, reorder_correlation)
        {
            self.since = 0;
            self.counts.reordered += 1;
            return through;
        }
        self.since = self.since.saturating_add(1);
        let at = through + self.jittered(delay);
        if self.given.reorders() {
            return at;
        }
        // A delay that a schedule has made shorter lets no frame overtake.
        self.latest = self.latest.max(at);
        self.latest
    }

    /// The delay of a frame: `mean` and its deviation, at least zero.
    fn jittered(&mut self, mean: Time) -> Time {
        let LinkNetem { jitter, jitter_correlation, distribution, .. } = self.given;
        if jitter == 0 {
            return mean;
        }
        let word = correlated(&mut self.draws, &mut self.last.jitter, jitter_correlation);
        let deviation = match distribution {
            // From -jitter to jitter, exactly in integers.
            DelayDistribution::Uniform => {
                let width = 2 * u128::from(jitter) + 1;
                ((u128::from(word) * width) >> 32) as i64 - jitter as i64
            }
            DelayDistribution::Normal => {
                let quantile = normal()[((u64::from(word) * QUANTILES as u64) >> 32) as usize];
                (quantile * jitter as f64) as i64
            }
        };
        Time(mean.0.saturating_add_signed(deviation))
    }
}

/// True if an event of this probability happens; a probability of 0 draws nothing.
fn drawn(draws: &mut RandomStream, last: &mut u32, probability: u32, correlation: u32) -> bool {
    if probability == 0 {
        return false;
    }
    let word = u64::from(correlated(draws, last, correlation));
    word * u64::from(CERTAIN) < u64::from(probability) << 32
}

/// The next number of a correlated sequence (netem's `get_crandom`).
fn correlated(draws: &mut RandomStream, last: &mut u32, correlation: u32) -> u32 {
    let word = draws.word();
    if correlation == 0 {
        return word;
    }
    let weight = u64::from(correlation.min(CERTAIN));
    let sum = u64::from(word) * (u64::from(CERTAIN) - weight) + u64::from(*last) * weight;
    *last = (sum / u64::from(CERTAIN)) as u32;
    *last
}

/// Quantiles of the standard normal distribution, each in the middle of its share.
fn normal() -> &'static [f64] {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let share = |index: usize| (index as f64 + 0.5) / QUANTILES as f64;
        (0..QUANTILES).map(|index| quantile(share(index))).collect()
    })
}

/// The value at which the standard normal distribution reaches `share`, by bisection.
fn quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-6.0f64, 6.0f64);
    for _ in 0..48 {
        let middle = (low + high) / 2.0;
        let below = 0.5 * libm::erfc(-middle / std::f64::consts::SQRT_2);
        if below < share { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MEAN: Time = Time::from_millis(10);
    const EACH: u64 = 1_000_000;

    /// Arrivals of `count` frames, a millisecond apart, with what was counted.
    fn arrivals(given: LinkNetem, seed: u64, count: u64) -> (Vec<Arrivals>, RandomCounts) {
        let mut link = RandomLink::new(given, seed, 0);
        let all = (0..count).map(|n| link.carry(Time(n * EACH), MEAN)).collect();
        (all, link.counts())
    }

    /// Five standard deviations of a count with this probability: one draw in two million is off.
    fn close(count: u64, probability: f64, of: u64) -> bool {
        let (mean, of) = (probability * of as f64, of as f64);
        (count as f64 - mean).abs() <= 5.0 * (of * probability * (1.0 - probability)).sqrt() + 1.0
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: ProptestConfig::default().cases / 8,
            ..ProptestConfig::default()
        })]

        #[test]
        fn frames_are_lost_copied_and_reordered_with_the_configured_probabilities(
            loss in 0..=CERTAIN, duplicate in 0..=CERTAIN, reorder in 0..=CERTAIN,
            gap in 1..6u32, seed in any::<u64>()
        ) {
            let count = 20_000;
            let given = LinkNetem { loss, duplicate, reorder, gap, ..LinkNetem::default() };
            let (all, counts) = arrivals(given, seed, count);
            let [p, twice, early] = [loss, duplicate, reorder].map(|p| f64::from(p) / 1e9);
            prop_assert_eq!(counts.frames, count);
            prop_assert!(close(counts.duplicated, twice, count), "{:?}", counts);
            let arrived = all.iter().flat_map(|a| [a.frame, a.copy]).flatten().count() as u64;
            prop_assert_eq!(arrived, counts.frames + counts.duplicated - counts.lost);
            // Neither copied nor lost, or both; a copy arrives if neither loss happens.
            let first = all.iter().filter(|a| a.frame.is_some()).count() as u64;
            prop_assert!(close(first, 1.0 - p * (1.0 - twice), count), "{first} {:?}", counts);
            let copies = all.iter().filter(|a| a.copy.is_some()).count() as u64;
            prop_assert!(close(copies, twice * (1.0 - p) * (1.0 - p), count), "{copies}");
            // After gap - 1 frames that cannot, each one is reordered with the probability.
            if early > 0.01 && arrived > 2_000 {
                let cycle = f64::from(gap - 1) + 1.0 / early;
                let share = counts.reordered as f64 / arrived as f64;
                prop_assert!((share * cycle - 1.0).abs() < 0.25, "{share} {cycle}");
            }
        }

        #[test]
        fn the_same_seed_and_direction_make_the_same_decisions(seed in any::<u64>()) {
            let given = LinkNetem {
                loss: CERTAIN / 10, duplicate: CERTAIN / 10, jitter: 5_000_000, ..LinkNetem::default()
            };
            prop_assert_eq!(arrivals(given, seed, 500), arrivals(given, seed, 500));
            prop_assert_ne!(arrivals(given, seed, 500).0, arrivals(given, seed ^ 1, 500).0);
        }
    }

    #[test]
    fn a_uniform_jitter_fills_its_span_and_a_normal_one_has_its_deviation() {
        let jitter = 3_000_000;
        for distribution in [DelayDistribution::Uniform, DelayDistribution::Normal] {
            let (all, _) =
                arrivals(LinkNetem { jitter, distribution, ..LinkNetem::default() }, 7, 40_000);
            let off: Vec<f64> = all
                .iter()
                .zip(0..)
                .map(|(a, n)| (a.frame.map_or(0, |at| at.0) - n * EACH) as f64 - 10e6)
                .collect();
            let mean = off.iter().sum::<f64>() / 40_000.0;
            let spread = (off.iter().map(|x| x * x).sum::<f64>() / 40_000.0).sqrt();
            let most = off.iter().copied().fold(0.0, |most: f64, x| most.max(x.abs()));
            let (wanted, limit) = match distribution {
                DelayDistribution::Uniform => (3e6 / 3f64.sqrt(), 3e6),
                DelayDistribution::Normal => (3e6, 3.7 * 3e6),
            };
            assert!(mean.abs() < 0.03 * 3e6, "{distribution:?}: {mean}");
            assert!((spread / wanted - 1.0).abs() < 0.02, "{distribution:?}: {spread}");
            assert!(most <= limit && most > 0.95 * limit, "{distribution:?}: {most}");
        }
    }

    #[test]
    fn correlated_losses_come_in_runs_and_full_correlation_repeats_the_first_number() {
        let runs = |correlation| {
            let loss = CERTAIN / 2;
            let given = LinkNetem { loss, loss_correlation: correlation, ..LinkNetem::default() };
            let (all, counts) = arrivals(given, 3, 20_000);
            let changes =
                all.windows(2).filter(|two| two[0].frame.is_some() != two[1].frame.is_some());
            (counts.lost, changes.count())
        };
        let (lost, changes) = runs(CERTAIN / 100 * 75);
        assert!(close(lost, 0.5, 20_000) || lost.abs_diff(10_000) < 700, "{lost}");
        assert!(changes < runs(0).1 * 3 / 4, "{changes}");
        assert!(matches!(runs(CERTAIN).0, 0 | 20_000));
    }

    #[test]
    fn every_gap_th_frame_overtakes_if_reordering_is_certain() {
        let (all, counts) =
            arrivals(LinkNetem { reorder: CERTAIN, gap: 5, ..LinkNetem::default() }, 1, 20);
        let early: Vec<_> =
            (0..20).filter(|n| all[*n].frame == Some(Time(*n as u64 * EACH))).collect();
        assert_eq!((early, counts.reordered), (vec![4, 9, 14, 19], 4));
    }
}
