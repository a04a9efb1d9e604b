//! TCP Prague (draft-briscoe-iccrg-prague-congestion-control), a sender for L4S queues (RFC 9330, RFC 9331):
//! shrinks by half the smoothed share of marks and grows by a segment each virtual round trip of 25 ms.
//!
//! Accurate feedback counts the marks ([`EcnFeedback::AccEcn`]), and data are ECT(1). The arithmetic is that of the
//! reference implementation (`tcp_prague.c`, module version 0.6, default parameters): fractions of a segment
//! are carried in units of 2^-20, the share has 20 bits and is stored 16 times as large, so that no small
//! share is lost, and it stays 1 until the first mark. 500 round trips after slow start a flow with a shorter round
//! trip than 25 ms behaves as one of 25 ms: it averages and shrinks at most once in 25 ms, and its growth
//! falls with the square of its round trip. A mark ends slow start. A loss halves the window (section 2.4.3 of the draft).
//!
//! Two things differ from the reference. Whole segments leave the window when the mark arrives, where the
//! reference removes one with each acknowledgement. The first mark after 25 ms reduces a short flow, where the
//! reference also waits for the end of a real round trip, so that 24 ms would have nearly twice the rate of
//! 25 ms. The tests in `tests/prague.rs` measure both.

use super::{
    Ack, CongestionControl, EcnFeedback, Flow, Marked, Registered, RttSample, Start, Window,
};
use sojourn_packet::Time;

/// Prague, as scenarios name it.
pub const REGISTRATION: Registered = Registered {
    name: "prague",
    summary: "TCP Prague (L4S): counts every mark, shrinks by their share; for dualpi2 and the like",
    linux: None,
    ecn_feedback: EcnFeedback::AccEcn,
    telemetry: false,
    start: |start| Box::new(Prague::new(start)),
};

/// The round trip that shorter ones imitate (`prague_rtt_target`).
const VIRTUAL_RTT: Time = Time::from_millis(25);
/// Round trips after slow start from which on they do (`prague_rtt_transition`).
const TRANSITION: u32 = 500;
/// Fraction bits of segments and of the share of marks.
const FRACTION_BITS: u32 = 20;
/// One segment, and a share of 1.
const ONE: u64 = 1 << FRACTION_BITS;
/// The gain of the average: 1/16.
const GAIN_SHIFT: u32 = 4;
/// The smallest window in segments.
const MIN_WINDOW: u32 = 2;

/// The control.
#[derive(Clone, Debug)]
pub struct Prague {
    /// The smoothed share of marks times 16, in units of 2^-20.
    upscaled_share: u64,
    /// The part of the window below a segment, in units of 2^-20: less than one either way.
    carry: i64,
    srtt: Time,
    /// Round trips after slow start.
    rounds: u32,
    /// The counted round trip ends when this offset is acknowledged.
    round_end: u64,
    /// Segments delivered, and delivered with a mark, when it began.
    delivered: u64,
    marked: u64,
    /// Instants of the last average and of the last reduction.
    averaged: Time,
    reduced: Time,
}

impl CongestionControl for Prague {
    /// Growth counts unmarked segments only, so that it falls as the share of marks rises.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let acked = u64::from(window.start_slowly(ack));
        if acked > 0 {
            let cwnd = u64::from(window.cwnd.max(1));
            let growth = (acked * self.growth_per_window() + cwnd / 2) / cwnd;
            self.change(window, growth.max(acked) as i64);
        }
    }

    fn on_rtt(&mut self, _: &mut Window, sample: &RttSample) {
        self.srtt = sample.srtt;
    }

    fn on_marked(&mut self, window: &Window, seen: &Marked) {
        let elapsed = seen.now.saturating_sub(self.averaged);
        if seen.una < self.round_end || (self.is_virtual(window) && elapsed < VIRTUAL_RTT) {
            return;
        }
        // Before the first mark the path is not known to have an AQM.
        if seen.marked > 0 {
            self.average(seen);
            self.averaged = seen.now;
        }
        (self.round_end, self.delivered, self.marked) = (seen.next, seen.delivered, seen.marked);
        if !window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn reduces_at_once(&self) -> bool {
        true
    }

    fn reduce(&mut self, window: &mut Window, now: Time, is_first: bool) -> bool {
        let is_virtual = self.is_virtual(window);
        let is_late = now.saturating_sub(self.reduced) >= VIRTUAL_RTT;
        let is_short = self.srtt < VIRTUAL_RTT;
        let is_due = if is_virtual { is_late && (is_first || is_short) } else { is_first };
        if !is_due {
            return false;
        }
        self.reduced = now;
        let share = u128::from(self.upscaled_share >> GAIN_SHIFT);
        let twice = share * (u128::from(window.cwnd) << FRACTION_BITS);
        let reduction = (twice + u128::from(ONE)) >> (FRACTION_BITS + 1);
        self.change(window, -(reduction as i64));
        window.ssthresh = window.cwnd;
        true
    }

    /// Half of the window.
    fn reduced_threshold(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(MIN_WINDOW)
    }

    /// Halves the fraction as well.
    fn on_loss(&mut self, window: &mut Window) {
        let half = ((i64::from(window.cwnd) << FRACTION_BITS) + self.carry) / 2;
        self.carry = half % ONE as i64;
        window.ssthresh = ((half / ONE as i64) as u32).max(MIN_WINDOW);
    }

    fn on_timeout(&mut self, _: &Flow) {
        self.carry = 0;
    }
}

impl Prague {
    fn new(start: &Start) -> Prague {
        Prague {
            upscaled_share: ONE << GAIN_SHIFT,
            carry: 0,
            srtt: start.rtt.unwrap_or(VIRTUAL_RTT),
            rounds: 0,
            round_end: 0,
            delivered: 1,
            marked: 0,
            averaged: start.now,
            reduced: Time::ZERO,
        }
    }

    /// True if the flow behaves as one of 25 ms at least.
    fn is_virtual(&self, window: &Window) -> bool {
        self.rounds >= TRANSITION && !window.in_slow_start()
    }

    /// Growth for a window of acknowledged segments, in units of 2^-20: a segment, and below 25 ms the
    /// square of the ratio. A window each round trip then rises by a segment in 25 ms at the same rate.
    fn growth_per_window(&self) -> u64 {
        if self.rounds < TRANSITION || self.srtt >= VIRTUAL_RTT {
            return ONE;
        }
        let square = |time: Time| u128::from(time.0) * u128::from(time.0);
        let all = square(VIRTUAL_RTT);
        ((u128::from(ONE) * square(self.srtt) + all / 2) / all) as u64
    }

    /// Moves the share by a sixteenth towards that of the round trip.
    fn average(&mut self, seen: &Marked) {
        let marked = seen.marked - self.marked;
        let delivered = (seen.delivered - self.delivered).max(1);
        let share = (marked << FRACTION_BITS) / delivered;
        let upscaled = self.upscaled_share - (self.upscaled_share >> GAIN_SHIFT) + share;
        self.upscaled_share = upscaled.min(ONE << GAIN_SHIFT);
    }

    /// Changes the window by a part of a segment or by several; the rest is carried.
    fn change(&mut self, window: &mut Window, by: i64) {
        let sum = self.carry + by;
        let cwnd = i64::from(window.cwnd) + sum / ONE as i64;
        self.carry = sum % ONE as i64;
        if cwnd < i64::from(MIN_WINDOW) {
            self.carry = 0;
        }
        window.cwnd = cwnd.clamp(i64::from(MIN_WINDOW), i64::from(u32::MAX >> 1)) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(acked: u32) -> Ack {
        Ack { now: Time::ZERO, acked, window_limited: true }
    }

    fn fresh() -> Prague {
        let rtt = Some(Time::from_millis(25));
        Prague::new(&Start {
            now: Time::ZERO,
            mss: 1448,
            window: 10,
            rtt,
            base_rtt: None,
            hz: crate::tcp::Hz::default(),
            seed: 0,
        })
    }

    /// A flow whose share is this part of one, and that behaves as one of 25 ms.
    fn settled(part: u64, srtt: Time) -> Prague {
        let upscaled_share = (ONE << GAIN_SHIFT) / part;
        Prague { upscaled_share, rounds: TRANSITION, srtt, ..fresh() }
    }

    #[test]
    fn a_round_trip_of_a_fifth_grows_by_a_twenty_fifth_of_a_segment() {
        let grown = |rtt: u64, rounds: u32| {
            let mut prague = settled(1, Time::from_millis(rtt));
            let mut window = Window::with_threshold(10, 10);
            (0..10 * rounds).for_each(|_| prague.on_ack(&mut window, &ack(1)));
            window.cwnd - 10
        };
        assert_eq!(grown(25, 1), 1);
        assert_eq!(grown(100, 1), 1, "longer round trips grow as Reno");
        assert_eq!(grown(5, 24), 0);
        assert_eq!(grown(5, 26), 1);
    }

    #[test]
    fn growth_falls_smoothly_with_the_round_trip() {
        let growth = |tenths: u64| settled(1, Time::from_micros(100 * tenths)).growth_per_window();
        for tenths in 10..250 {
            let ratio = growth(tenths + 1) as f64 / growth(tenths) as f64;
            let right = ((tenths + 1) as f64 / tenths as f64).powi(2);
            assert!((ratio / right - 1.0).abs() < 1e-2, "{tenths}: {ratio} {right}");
        }
    }

    #[test]
    fn a_young_flow_grows_by_a_segment_each_round_trip() {
        let mut prague = Prague { rounds: TRANSITION - 1, ..settled(1, Time::from_millis(5)) };
        let mut window = Window::with_threshold(10, 10);
        (0..10).for_each(|_| prague.on_ack(&mut window, &ack(1)));
        assert_eq!(window.cwnd, 11);
    }

    #[test]
    fn fractions_of_a_segment_are_carried_from_one_reduction_to_the_next() {
        // A share of 1/16: at 64 segments each reduction is two segments, at 10 it is 10/32 of one.
        let mut prague = settled(16, VIRTUAL_RTT);
        let mut window = Window::with_threshold(10, 10);
        for n in 1..=16 {
            assert!(prague.reduce(&mut window, Time::from_millis(25 * n), true));
            window.cwnd = window.cwnd.max(10);
        }
        assert_eq!(prague.carry, 0, "16 times 10/32 are five whole segments");
    }

    #[test]
    fn a_reduction_keeps_the_growth_before_it() {
        let mut prague = settled(16, VIRTUAL_RTT);
        let mut window = Window::with_threshold(10, 10);
        (0..9).for_each(|_| prague.on_ack(&mut window, &ack(1)));
        // 9/10 of a segment more, 10/32 less.
        assert!(prague.reduce(&mut window, Time::from_millis(25), true));
        (0..5).for_each(|_| prague.on_ack(&mut window, &ack(1)));
        assert_eq!(window.cwnd, 11);
    }

    #[test]
    fn a_settled_flow_shrinks_at_most_once_in_25_ms() {
        let mut prague = settled(2, Time::from_millis(5));
        let mut window = Window::with_threshold(40, 40);
        assert!(prague.reduce(&mut window, Time::from_millis(100), true));
        assert_eq!((window.cwnd, window.ssthresh), (30, 30));
        assert!(!prague.reduce(&mut window, Time::from_millis(124), true));
        assert_eq!(window.cwnd, 30);
        assert!(prague.reduce(&mut window, Time::from_millis(125), false));
    }

    #[test]
    fn the_share_stays_one_until_the_first_mark() {
        let mut prague = fresh();
        let mut window = Window::with_threshold(40, 40);
        let mut seen = Marked { now: Time::ZERO, una: 1, next: 1, delivered: 1, marked: 0 };
        for round in 1..=100 {
            (seen.now, seen.una, seen.next) =
                (Time::from_millis(30 * round), seen.next, seen.next + 40);
            seen.delivered += 40;
            prague.on_marked(&window, &seen);
        }
        assert_eq!((prague.upscaled_share, prague.rounds), (ONE << GAIN_SHIFT, 100));
        assert!(prague.reduce(&mut window, seen.now, true));
        assert_eq!(window.cwnd, 20);
    }

    #[test]
    fn small_shares_are_averaged_to_the_end() {
        let mut prague = settled(1, VIRTUAL_RTT);
        let window = Window::with_threshold(1_000, 1_000);
        let mut seen = Marked { now: Time::ZERO, una: 1, next: 1, delivered: 1, marked: 0 };
        // One segment of 1,000 is marked.
        for round in 1..=400 {
            (seen.now, seen.una, seen.next) =
                (Time::from_millis(30 * round), seen.next, seen.next + 1_000);
            (seen.delivered, seen.marked) = (seen.delivered + 1_000, seen.marked + 1);
            prague.on_marked(&window, &seen);
        }
        let share = (prague.upscaled_share >> GAIN_SHIFT) as f64 / ONE as f64;
        assert!((share / 0.001 - 1.0).abs() < 0.02, "{share}");
    }

    #[test]
    fn a_loss_halves_the_window_with_its_fraction() {
        let mut prague = Prague { carry: (ONE / 2) as i64, ..fresh() };
        let mut window = Window::new(41);
        prague.on_loss(&mut window);
        assert_eq!((window.ssthresh, prague.carry), (20, (3 * ONE / 4) as i64));
    }

    #[test]
    fn the_window_never_falls_below_two_segments() {
        let mut prague = settled(1, VIRTUAL_RTT);
        let mut window = Window::with_threshold(3, 3);
        (1..9).for_each(|n| assert!(prague.reduce(&mut window, Time::from_millis(25 * n), true)));
        assert_eq!((window.cwnd, prague.carry), (2, 0));
    }
}
