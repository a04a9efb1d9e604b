//! HyStart: when slow start has found the path's capacity, before it overshoots (Ha and Rhee,
//! "Taming the elephants: New TCP slow start", Computer Networks 55, 2011), as Linux 6.1 has it for
//! unpaced CUBIC. RFC 9438 section 4.10 would prefer HyStart++ (RFC 9406).

use super::RttSample;
use sojourn_packet::Time;

/// Below this window, in segments, slow start is left alone.
const LOW_WINDOW: u32 = 16;
/// Acknowledgements closer than this are in one train.
const TRAIN_GAP: Time = Time::from_millis(2);
/// Round-trip times to see in a round before they are judged.
const MIN_SAMPLES: u32 = 8;
/// The rise of the round-trip time that ends slow start is an eighth of its minimum, within this.
const MIN_RISE: Time = Time::from_millis(4);
const MAX_RISE: Time = Time::from_millis(16);
/// Addition of offload to a train: the time of four of the largest bursts at the pacing rate, in
/// bytes, and at most this long.
const OFFLOAD_BYTES: u64 = 4 * crate::tcp::burst::MAX_BURST_BYTES;
const MAX_OFFLOAD_DELAY: Time = Time::from_millis(1);

/// State of one slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// Start of the present round, and the last acknowledgement of its train.
    round: Option<(Time, Time)>,
    /// The round ends when something behind this offset is acknowledged.
    end: u64,
    /// The least round-trip time of this round, of this many.
    round_rtt: Time,
    samples: u32,
}

impl Default for HyStart {
    fn default() -> HyStart {
        HyStart { round: None, end: 0, round_rtt: Time::MAX, samples: 0 }
    }
}

impl HyStart {
    /// Sees one round-trip time in slow start, after `min_rtt` has; true if slow start must end at
    /// this window.
    pub(super) fn on_rtt(&mut self, sample: &RttSample, min_rtt: Time, cwnd: u32) -> bool {
        if self.round.is_none() || sample.una > self.end {
            self.round = Some((sample.now, sample.now));
            self.end = sample.next;
            self.round_rtt = Time::MAX;
            self.samples = 0;
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        let train = self.train_is_long(sample, min_rtt);
        self.delay_has_risen(sample.rtt, min_rtt) || train
    }

    /// A train of acknowledgements as long as half a round trip: the window fills the path.
    fn train_is_long(&mut self, sample: &RttSample, min_rtt: Time) -> bool {
        let Some((begin, last)) = &mut self.round else { return false };
        if sample.now.saturating_sub(*last) > TRAIN_GAP {
            return false;
        }
        *last = sample.now;
        let threshold =
            Time((min_rtt + offload_delay(sample.pacing_rate.bytes_per_second())).0 / 2);
        sample.now.saturating_sub(*begin) > threshold
    }

    /// Even the quickest of a round's round trips is slower: a queue is standing.
    fn delay_has_risen(&mut self, rtt: Time, min_rtt: Time) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = Time(min_rtt.0 / 8).clamp(MIN_RISE, MAX_RISE);
        self.round_rtt > min_rtt + rise
    }
}

fn offload_delay(pacing_rate: u64) -> Time {
    match OFFLOAD_BYTES.saturating_mul(1_000_000_000).checked_div(pacing_rate) {
        Some(delay) => Time(delay).min(MAX_OFFLOAD_DELAY),
        None => Time::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::PacingRate;

    /// A round of `n` acknowledgements, `gap` apart, each with `rtt`; returns the one that ends
    /// slow start. Rounds are distinguished by `una`, each a hundred behind the one before.
    fn round(hystart: &mut HyStart, begin: Time, gap: Time, n: u64, rtt: Time) -> Option<u64> {
        let una = hystart.end + 1;
        let cwnd = 100;
        (0..n).find(|i| {
            let now = begin + Time(i * gap.0);
            let sample = RttSample {
                now,
                rtt,
                una,
                next: una + 100,
                srtt: Time::ZERO,
                pacing_rate: PacingRate::new(0),
            };
            hystart.on_rtt(&sample, MIN_RTT, cwnd)
        })
    }

    const MS: fn(u64) -> Time = Time::from_millis;
    const MIN_RTT: Time = Time::from_millis(40);

    #[test]
    fn a_train_longer_than_half_the_round_trip_ends_slow_start() {
        let mut hystart = HyStart::default();
        assert_eq!(round(&mut hystart, MS(0), MS(1), 20, MS(40)), None);
        // The 21st millisecond after the first is more than half of 40 ms.
        assert_eq!(round(&mut hystart, MS(40), MS(1), 30, MS(40)), Some(21));
    }

    #[test]
    fn a_train_may_be_longer_by_half_of_what_offload_delays() {
        // 4 * 65,215 bytes at 521.72 MB/s last 0.5 ms; at 12.5 MB/s they would last 20.9 ms, but
        // never count for more than 1 ms. Half of it is added to half of 40 ms.
        for (pacing_rate, at) in [(521_720_000, 81), (12_500_000, 83)] {
            let mut hystart = HyStart::default();
            let ended = (0..200).find(|i| {
                let now = Time(i * 250_000);
                let sample = RttSample {
                    now,
                    rtt: MS(40),
                    srtt: Time::ZERO,
                    una: 1,
                    next: 1000,
                    pacing_rate: PacingRate::new(pacing_rate),
                };
                hystart.on_rtt(&sample, MIN_RTT, 100)
            });
            assert_eq!(ended, Some(at + u64::from(at == 81)), "{pacing_rate}");
        }
    }

    #[test]
    fn acknowledgements_far_apart_are_no_train() {
        let mut hystart = HyStart::default();
        assert_eq!(round(&mut hystart, MS(0), MS(3), 30, MS(40)), None);
    }

    #[test]
    fn a_round_in_which_every_round_trip_is_slower_ends_slow_start() {
        let mut hystart = HyStart::default();
        round(&mut hystart, MS(0), Time(0), 20, MS(40));
        // An eighth of 40 ms is 5 ms; eight samples are seen first.
        assert_eq!(round(&mut hystart, MS(40), Time(0), 20, MS(45)), None);
        assert_eq!(round(&mut hystart, MS(90), Time(0), 20, MS(46)), Some(8));
    }

    #[test]
    fn a_rise_below_4_ms_is_noise_and_above_16_ms_never_is() {
        let ends = |min_rtt: Time, rtt: Time| {
            let mut hystart = HyStart::default();
            let sample = RttSample {
                now: MS(1),
                rtt,
                una: 1,
                next: 100,
                srtt: Time::ZERO,
                pacing_rate: PacingRate::new(0),
            };
            (0..20).any(|_| hystart.on_rtt(&sample, min_rtt, 100))
        };
        assert!(!ends(MS(2), MS(6)) && ends(MS(2), MS(7)));
        assert!(!ends(MS(400), MS(416)) && ends(MS(400), MS(417)));
    }

    #[test]
    fn one_quick_round_trip_clears_its_round() {
        let mut hystart = HyStart::default();
        round(&mut hystart, MS(0), Time(0), 1, MS(41));
        let slow = RttSample {
            now: MS(0),
            rtt: MS(60),
            una: 1,
            next: 0,
            srtt: Time::ZERO,
            pacing_rate: PacingRate::new(0),
        };
        assert!((0..20).all(|_| !hystart.on_rtt(&slow, MIN_RTT, 100)));
    }

    #[test]
    fn a_small_window_is_left_alone() {
        let mut hystart = HyStart::default();
        let slow = RttSample {
            now: MS(0),
            rtt: MS(80),
            una: 1,
            next: 9,
            srtt: Time::ZERO,
            pacing_rate: PacingRate::new(0),
        };
        assert!((0..20).all(|_| !hystart.on_rtt(&slow, MIN_RTT, 15)));
    }
}
