//! Random numbers of one flow.
//!
//! Every flow of every seed has a stream of its own: the two are mixed, so that neighbours among
//! flows and seeds have nothing in common. The logarithms and powers are computed by `libm` in
//! software, so that they are the same bits on every machine.

use oorandom::Rand64;
use sojourn_packet::{Time, mix};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct RandomStream(Rand64);

/// The use of a stream; one flow may need several.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StreamPurpose {
    /// Start time, and the initial numbers of its connection.
    Start,
    /// Its traffic.
    Traffic,
    /// Events of frames on one direction of a link, instead of a flow.
    Link,
    /// The receivers of its transfers.
    Receiver,
}

impl RandomStream {
    /// The stream of a flow under a seed.
    pub(crate) fn new(seed: u64, flow: u32, purpose: StreamPurpose) -> RandomStream {
        // Added behind the first mixing, which parts the two: they are not interchangeable.
        let state = mix(mix(seed).wrapping_add(u64::from(flow) << 8 | purpose as u64));
        RandomStream(Rand64::new(u128::from(state) << 64 | u128::from(mix(state))))
    }

    /// A time of at least zero and less than `end`, each as likely; zero if `end` is.
    pub(crate) fn before(&mut self, end: Time) -> Time {
        Time(self.0.rand_range(0..end.0.max(1)))
    }

    /// Any 32 bits.
    pub(crate) fn word(&mut self) -> u32 {
        (self.0.rand_u64() >> 32) as u32
    }

    /// More than zero, at most one.
    pub(super) fn unit(&mut self) -> f64 {
        1.0 - self.0.rand_float()
    }

    /// A span of log-normal distribution with that mean; `sigma` is the standard deviation of its
    /// logarithm. By Box and Muller's transform.
    pub(crate) fn lognormal(&mut self, mean: Time, sigma: f64) -> Time {
        let radius = libm::sqrt(-2.0 * libm::log(self.unit()));
        let normal = radius * libm::cos(std::f64::consts::TAU * self.unit());
        let factor = libm::exp(sigma * normal - sigma * sigma / 2.0);
        Time((factor * mean.0 as f64) as u64)
    }

    /// A span of exponential distribution with that mean.
    pub(crate) fn exponential(&mut self, mean: Time) -> Time {
        Time((-libm::log(self.unit()) * mean.0 as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(flow: u32) -> RandomStream {
        RandomStream::new(1, flow, StreamPurpose::Traffic)
    }

    #[test]
    fn exponential_spans_have_their_mean_and_the_spread_of_the_distribution() {
        let (mut draws, mean) = (draws(3), Time::from_millis(20));
        let spans: Vec<f64> = (0..20_000).map(|_| draws.exponential(mean).0 as f64).collect();
        let average = spans.iter().sum::<f64>() / 20_000.0;
        let variance = spans.iter().map(|s| (s - average) * (s - average)).sum::<f64>() / 20_000.0;
        // Of an exponential distribution the standard deviation is the mean.
        assert!((average / 20e6 - 1.0).abs() < 0.03, "{average}");
        assert!((variance.sqrt() / 20e6 - 1.0).abs() < 0.05, "{variance}");
    }

    #[test]
    fn log_normal_spans_have_their_mean_and_the_deviation_of_their_logarithm() {
        let (mut draws, mean, sigma) = (draws(4), Time::from_millis(20), 1.2);
        let spans: Vec<f64> = (0..200_000).map(|_| draws.lognormal(mean, sigma).0 as f64).collect();
        let count = spans.len() as f64;
        assert!((spans.iter().sum::<f64>() / count / 20e6 - 1.0).abs() < 0.03);
        let logs: Vec<f64> = spans.iter().map(|span| span.max(1.0).ln()).collect();
        let average = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|l| (l - average) * (l - average)).sum::<f64>() / count;
        assert!((variance.sqrt() / sigma - 1.0).abs() < 0.02, "{variance}");
    }

    #[test]
    fn neighbouring_flows_and_seeds_have_streams_of_their_own() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            for flow in 0..50 {
                for purpose in
                    [StreamPurpose::Start, StreamPurpose::Traffic, StreamPurpose::Receiver]
                {
                    assert!(seen.insert(RandomStream::new(seed, flow, purpose).0.rand_u64()));
                }
            }
        }
    }
}
