//! BBR's path measurements: bandwidth and the degree of ACK aggregation.

use super::{Bbr, Gain, UNIT};
use crate::tcp::congestion::{Flow, RateSample};
use sojourn_packet::Time;

/// BBR paces one per cent below its estimate, so that queues do not build up.
const PACING_MARGIN_PERCENT: u128 = 1;
/// Round trips after which one of the two windows of excess acknowledgements begins anew.
const WINDOW_ROUNDS: u32 = 5;
/// An epoch ends after so many segments in any case.
const LONGEST_EPOCH: u32 = 1 << 20;

/// Segments per microsecond, times 2^24 (`BW_SCALE`). At 1 Mbit/s that is some 1,400, so that
/// rounding down affects the time between two segments: the kernel's numbers are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bandwidth(pub(super) u64);

/// One segment per microsecond.
const BANDWIDTH_UNIT: u128 = 1 << 24;

/// Whole microseconds, in which the kernel counts.
fn micros(time: Time) -> u128 {
    u128::from(time.0 / 1_000)
}

impl Bandwidth {
    pub(super) const ZERO: Bandwidth = Bandwidth(0);

    /// `segments` delivered in `interval`.
    pub(super) fn new(segments: u64, interval: Time) -> Bandwidth {
        Bandwidth((u128::from(segments) * BANDWIDTH_UNIT / micros(interval).max(1)) as u64)
    }

    /// Segments that this bandwidth delivers in `time`, times `gain`, rounded up.
    pub(super) fn segments(self, time: Time, gain: Gain) -> u32 {
        let scaled = u128::from(self.0) * micros(time) * u128::from(gain) / u128::from(UNIT);
        scaled.div_ceil(BANDWIDTH_UNIT).min(u128::from(u32::MAX)) as u32
    }

    /// The same without a gain, rounded down.
    pub(super) fn whole_segments(self, time: Time) -> u32 {
        let scaled = u128::from(self.0) * micros(time);
        (scaled / BANDWIDTH_UNIT).min(u128::from(u32::MAX)) as u32
    }

    /// Payload bytes per second to pace at.
    pub(super) fn pacing_rate(self, mss: u32, gain: Gain) -> u64 {
        let bytes = u128::from(self.0) * u128::from(mss) * u128::from(gain) / u128::from(UNIT);
        (bytes * 10_000 * (100 - PACING_MARGIN_PERCENT) / BANDWIDTH_UNIT) as u64
    }
}

/// Segments acknowledged in lumps beyond what the bandwidth explains: the window must cover them.
#[derive(Clone, Debug)]
pub(super) struct AckAggregation {
    /// Since when it is counted, and how many segments since.
    epoch: Time,
    acked: u32,
    /// The greatest excess of this window of rounds and of the one before.
    excess: [u32; 2],
    current: usize,
    rounds: u32,
}

impl AckAggregation {
    pub(super) fn new(now: Time) -> AckAggregation {
        AckAggregation { epoch: now, acked: 0, excess: [0; 2], current: 0, rounds: 0 }
    }

    /// A new epoch, with what was learned before.
    pub(super) fn restarted(&self, now: Time) -> AckAggregation {
        AckAggregation { epoch: now, acked: 0, ..self.clone() }
    }

    /// The greatest excess of the last five to ten rounds.
    pub(super) fn greatest(&self) -> u32 {
        self.excess[0].max(self.excess[1])
    }

    fn new_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= WINDOW_ROUNDS {
            self.rounds = 0;
            self.current = 1 - self.current;
            self.excess[self.current] = 0;
        }
    }
}

impl Bbr {
    /// Updates the number of segments acknowledged in excess of the bandwidth.
    pub(super) fn update_aggregation(&mut self, flow: &Flow, sample: &RateSample, cwnd: u32) {
        if sample.acked == 0 || sample.rate.is_none() {
            return;
        }
        if self.round_start {
            self.aggregation.new_round();
        }
        let bandwidth = self.bandwidth();
        let counted = &mut self.aggregation;
        let since = flow.delivered_at.saturating_sub(counted.epoch);
        let mut expected = bandwidth.whole_segments(since);
        // As soon as the acknowledgements fall behind the bandwidth, counting begins anew.
        if counted.acked <= expected || counted.acked + sample.acked >= LONGEST_EPOCH {
            counted.acked = 0;
            counted.epoch = flow.delivered_at;
            expected = 0;
        }
        counted.acked = (counted.acked + sample.acked).min(LONGEST_EPOCH - 1);
        let excess = (counted.acked - expected).min(cwnd);
        let greatest = &mut counted.excess[counted.current];
        *greatest = (*greatest).max(excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bandwidth_is_rounded_down_as_the_kernel_rounds_it() {
        // Ten segments in 100.004 ms are 1677.65 units of 2^-24 segments per microsecond.
        let bandwidth = Bandwidth::new(10, Time::from_micros(100_004));
        assert_eq!(bandwidth.0, 1_677);
        // 1677 * 1448 * 740 >> 8 = 7,019,293; times 990,000, >> 24.
        assert_eq!(bandwidth.pacing_rate(1448, 740), 414_198);
        assert_eq!(bandwidth.segments(Time::from_micros(100_004), UNIT), 10);
        assert_eq!(bandwidth.whole_segments(Time::from_micros(100_004)), 9);
    }
}
