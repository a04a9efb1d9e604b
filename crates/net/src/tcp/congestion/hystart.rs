//! HyStart: when slow start has found the path's capacity, before it overshoots (Ha and Rhee,
//! "Taming the elephants: New TCP slow start", Computer Networks 55, 2011), with the constants that
//! Linux uses for unpaced CUBIC.

use super::Ack;
use sojourn_packet::Time;

/// Below this window, in segments, slow start is left alone.
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgements closer than this belong to one train.
const TRAIN_GAP: Time = Time::from_millis(2);
/// Round-trip times to see in a round before they are judged.
const MIN_SAMPLES: u32 = 8;
/// The rise of the round-trip time that ends slow start is an eighth of its minimum, within this.
const MIN_RISE: Time = Time::from_millis(4);
const MAX_RISE: Time = Time::from_millis(16);

/// What one slow start has seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// The least round-trip time so far.
    min_rtt: Time,
    /// When the present round began, and the last acknowledgement of its train.
    round: Option<(Time, Time)>,
    /// The least round-trip time of this round, of this many.
    round_rtt: Time,
    samples: u32,
}

impl Default for HyStart {
    fn default() -> HyStart {
        HyStart { min_rtt: Time::MAX, round: None, round_rtt: Time::MAX, samples: 0 }
    }
}

impl HyStart {
    /// Sees one acknowledgement; true if slow start must end at this window (in segments).
    pub(super) fn on_ack(&mut self, ack: &Ack, window: f64) -> bool {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = self.min_rtt.min(rtt);
        }
        if ack.new_round || self.round.is_none() {
            self.round = Some((ack.now, ack.now));
            self.round_rtt = Time::MAX;
            self.samples = 0;
        }
        if window < LOW_WINDOW || self.min_rtt == Time::MAX {
            return false;
        }
        self.train_is_long(ack.now) || ack.rtt.is_some_and(|rtt| self.delay_has_risen(rtt))
    }

    /// A train of acknowledgements as long as half a round trip: the window fills the path.
    fn train_is_long(&mut self, now: Time) -> bool {
        let Some((begin, last)) = &mut self.round else { return false };
        if now.saturating_sub(*last) > TRAIN_GAP {
            return false;
        }
        *last = now;
        now.saturating_sub(*begin).0 > self.min_rtt.0 / 2
    }

    /// Even the quickest of a round's round trips is slower: a queue is standing.
    fn delay_has_risen(&mut self, rtt: Time) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = Time(self.min_rtt.0 / 8).clamp(MIN_RISE, MAX_RISE);
        self.round_rtt > self.min_rtt + rise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now: Time, rtt: Time, new_round: bool) -> Ack {
        Ack {
            now,
            delivered: 2896,
            rtt: Some(rtt),
            srtt: rtt,
            in_flight: 0,
            new_round,
            window_limited: true,
        }
    }

    /// A round of `n` acknowledgements, `gap` apart, each with `rtt`; the one that ends slow start.
    fn round(hystart: &mut HyStart, begin: Time, gap: Time, n: u64, rtt: Time) -> Option<u64> {
        (0..n).find(|i| hystart.on_ack(&ack(begin + Time(i * gap.0), rtt, *i == 0), 100.0))
    }

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn a_train_longer_than_half_the_round_trip_ends_slow_start() {
        let mut hystart = HyStart::default();
        assert_eq!(round(&mut hystart, MS(0), MS(1), 20, MS(40)), None);
        // The 21st millisecond after the first is more than half of 40 ms.
        assert_eq!(round(&mut hystart, MS(40), MS(1), 30, MS(40)), Some(21));
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
        let mut short = HyStart::default();
        round(&mut short, MS(0), Time(0), 20, MS(2));
        assert_eq!(round(&mut short, MS(10), Time(0), 20, MS(6)), None);
        assert_eq!(round(&mut short, MS(20), Time(0), 20, MS(7)), Some(8));
        let mut long = HyStart::default();
        round(&mut long, MS(0), Time(0), 20, MS(400));
        assert_eq!(round(&mut long, MS(500), Time(0), 20, MS(417)), Some(8));
    }

    #[test]
    fn one_quick_round_trip_clears_its_round() {
        let mut hystart = HyStart::default();
        round(&mut hystart, MS(0), Time(0), 20, MS(40));
        hystart.on_ack(&ack(MS(50), MS(41), true), 100.0);
        assert!((0..20).all(|_| !hystart.on_ack(&ack(MS(50), MS(60), false), 100.0)));
    }

    #[test]
    fn a_small_window_is_left_alone() {
        let mut hystart = HyStart::default();
        round(&mut hystart, MS(0), Time(0), 20, MS(40));
        let mut late = (0..20).map(|i| ack(MS(100), MS(80), i == 0));
        assert!(late.all(|ack| !hystart.on_ack(&ack, 15.0)));
    }
}
