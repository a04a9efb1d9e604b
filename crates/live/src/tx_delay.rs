//! Transmit delay: histogram of the time between a frame's due instant and its transmission.

use hdrhistogram::Histogram;
use serde::Serialize;
use sojourn_packet::Time;

/// Upper bound of the histogram, ns: a minute.
const MOST: u64 = 60_000_000_000;

/// A distribution of times, with a precision of three digits.
///
/// ```
/// use sojourn_live::Lateness;
/// use sojourn_packet::Time;
/// let mut late = Lateness::default();
/// (1..=100).for_each(|us| late.note(Time::from_micros(us)));
/// assert!(late.percentiles().median.abs_diff(50_000) < 100);
/// ```
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

/// Percentiles of a distribution, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    /// Number of values.
    pub count: u64,
    /// Median.
    pub median: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Maximum.
    pub max: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        // The bounds are valid constants.
        Lateness(Histogram::new_with_bounds(1, MOST, 3).unwrap_or_else(|_| unreachable!()))
    }
}

impl Lateness {
    /// Records a value.
    pub fn note(&mut self, late: Time) {
        self.0.saturating_record(late.0.clamp(1, MOST));
    }

    /// Percentiles of the values.
    pub fn percentiles(&self) -> Percentiles {
        if self.0.is_empty() {
            return Percentiles::default();
        }
        Percentiles {
            count: self.0.len(),
            median: self.0.value_at_quantile(0.5),
            p99: self.0.value_at_quantile(0.99),
            p999: self.0.value_at_quantile(0.999),
            max: self.0.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_equal_those_of_the_samples() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.percentiles(), Percentiles::default());
        for nanoseconds in 1..=1_000 {
            lateness.note(Time(nanoseconds));
        }
        lateness.note(Time(u64::MAX));
        let seen = lateness.percentiles();
        assert_eq!((seen.count, seen.median, seen.p99), (1_001, 501, 991));
        assert!(seen.max >= MOST, "{}", seen.max);
    }
}
