//! CUBIC (RFC 9438) as Linux 6.1 computes it: in whole segments and clock ticks, because how the
//! window's growth is rounded shows in the traffic, above all when the window is small. Slow start
//! ends by HyStart. Differences from the RFC are named where they are.

use super::cube_root::cube_root;
use super::hystart::HyStart;
use super::{Ack, CongestionControl, EcnFeedback, Flow, Registered, RttSample, Window};
use crate::tcp::Hz;
use sojourn_packet::Time;

/// CUBIC, as scenarios name it.
pub const REGISTRATION: Registered = Registered {
    name: "cubic",
    summary: "CUBIC (RFC 9438): grows with the cube of the time since its last reduction",
    linux: Some("cubic"),
    ecn_feedback: EcnFeedback::Classic,
    telemetry: false,
    start: |start| Box::new(Cubic::new(start.hz)),
};

/// Multiplicative decrease (section 4.6): 0.7 in units of 1/1024.
const BETA: u32 = 717;
const BETA_SCALE: u32 = 1024;
/// Aggressiveness of the cubic function (section 5): 0.4 segments per second cubed, in 1/1024.
const C: u64 = 410;
/// The function counts time in units of 1/1024 s.
const FRACTION: u64 = 1024;
/// Acknowledged segments for one segment of the Reno-friendly window, per eighth of a window
/// (section 4.3): 8/3 (1 + beta) / (1 - beta), rounded down as Linux does.
const RENO_SCALE: u32 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// While the window stays the same, the function is evaluated only each such part of a second, in
/// whole ticks.
const UPDATES_PER_SECOND: u64 = 32;
/// The smallest threshold in segments (section 4.6).
const MIN_SSTHRESH: u32 = 2;
/// Before the first loss the window grows by at least one segment in so many acknowledged.
const FIRST_GROWTH: u32 = 20;
/// The window never grows by more than one segment for two acknowledged.
const FASTEST_GROWTH: u32 = 2;

/// The control.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    hz: Hz,
    /// Segments to be acknowledged for one segment of growth.
    per_segment: u32,
    /// Window just before the last reduction, lowered by fast convergence; 0 if there was none.
    w_max: u32,
    /// Window and tick of the last evaluation.
    evaluated: Option<(u32, u64)>,
    /// The congestion avoidance stage, from its first acknowledgement on.
    epoch: Option<Epoch>,
    /// The least round-trip time.
    min_rtt: Option<Time>,
    /// Slow start has ended by HyStart.
    found: bool,
    hystart: HyStart,
}

/// One congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// The tick.
    start: u64,
    /// Time for the function to reach `plateau` again, in 1/1024 s.
    k: u64,
    /// W_max of this stage.
    plateau: u32,
    /// Reno's window at this time, and the segments acknowledged towards its next one.
    reno: u32,
    reno_credit: u32,
}

impl Epoch {
    /// Equation 2: K is the cube root of (W_max - cwnd) / C.
    fn begin(tick: u64, cwnd: u32, w_max: u32, acked: u32) -> Epoch {
        let (plateau, k) = if cwnd < w_max {
            // In 1/1024 s and with C in 1/1024: 2^40 / C per segment.
            let cubed = (1u64 << 40) / C * u64::from(w_max - cwnd);
            (w_max, cube_root(u128::from(cubed)))
        } else {
            (cwnd, 0)
        };
        Epoch { start: tick, k, plateau, reno: cwnd, reno_credit: acked }
    }

    /// Equation 1: W_cubic(t) = C (t - K)^3 + W_max, a `min_rtt` ahead.
    fn target(&self, tick: u64, hz: Hz, min_rtt: Time) -> i64 {
        let elapsed = tick.saturating_sub(self.start) + hz.whole_ticks(min_rtt);
        let t = (u128::from(elapsed) * u128::from(FRACTION) / u128::from(hz.per_second())) as i64;
        let distance = (t - self.k as i64).clamp(-(1 << 24), 1 << 24);
        let cubed = i128::from(distance.unsigned_abs()).pow(3) * i128::from(C);
        let delta = (cubed >> 40).min(i128::from(u32::MAX)) as i64;
        i64::from(self.plateau) + if distance < 0 { -delta } else { delta }
    }

    /// Section 4.3: the Reno-friendly window after `reno_credit` more segments.
    fn grow_reno(&mut self, cwnd: u32) {
        let per_segment = ((u64::from(cwnd) * u64::from(RENO_SCALE)) >> 3) as u32;
        while self.reno_credit > per_segment.max(1) {
            self.reno_credit -= per_segment.max(1);
            self.reno += 1;
        }
    }
}

impl Cubic {
    /// A fresh control.
    pub fn new(hz: Hz) -> Cubic {
        Cubic { hz, ..Cubic::default() }
    }

    /// Sections 4.3 to 4.5: how many segments one segment of growth takes.
    fn update(&mut self, now: Time, cwnd: u32, acked: u32) {
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_credit += acked;
        }
        let now_ticks = self.hz.ticks(now);
        let interval = self.hz.per_second() / UPDATES_PER_SECOND;
        let recent = |(last, at): (u32, u64)| last == cwnd && now_ticks - at <= interval;
        if !self.evaluated.is_some_and(recent) {
            self.evaluate(now, cwnd, acked);
        }
    }

    /// The same with another window or long after the last time.
    #[inline(never)]
    fn evaluate(&mut self, now: Time, cwnd: u32, acked: u32) {
        let now_ticks = self.hz.ticks(now);
        let this_tick = self.evaluated.is_some_and(|(_, at)| at == now_ticks);
        let epoch = self.epoch.get_or_insert_with(|| {
            self.evaluated = None;
            Epoch::begin(now_ticks, cwnd, self.w_max, acked)
        });
        if !this_tick || self.evaluated.is_none() {
            self.evaluated = Some((cwnd, now_ticks));
            let target = epoch.target(now_ticks, self.hz, self.min_rtt.unwrap_or_default());
            self.per_segment = match target - i64::from(cwnd) {
                missing @ 1.. => cwnd / u32::try_from(missing).unwrap_or(u32::MAX),
                _ => cwnd.saturating_mul(100),
            };
            if self.w_max == 0 {
                self.per_segment = self.per_segment.min(FIRST_GROWTH);
            }
        }
        epoch.grow_reno(cwnd);
        if epoch.reno > cwnd {
            self.per_segment = self.per_segment.min(cwnd / (epoch.reno - cwnd));
        }
        self.per_segment = self.per_segment.max(FASTEST_GROWTH);
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let acked = window.start_slowly(ack);
        if acked > 0 {
            self.update(ack.now, window.cwnd, acked);
            window.avoid(self.per_segment, acked);
        }
    }

    fn on_rtt(&mut self, window: &mut Window, sample: &RttSample) {
        // Round-trip times say nothing about the path for a second after a reduction.
        let settles = |epoch: Epoch| {
            self.hz.ticks(sample.now).saturating_sub(epoch.start) < self.hz.per_second()
        };
        if self.epoch.is_some_and(settles) {
            return;
        }
        let min_rtt = self.min_rtt.map_or(sample.rtt, |min| min.min(sample.rtt));
        self.min_rtt = Some(min_rtt);
        if !self.found
            && window.in_slow_start()
            && self.hystart.on_rtt(sample, min_rtt, window.cwnd)
        {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    /// Section 4.6, of the window where the RFC takes the bytes in flight; and fast convergence
    /// (section 4.7): a flow that could not regain its window leaves room.
    fn reduced_threshold(&mut self, window: &Window) -> u32 {
        self.epoch = None;
        let cwnd = u64::from(window.cwnd);
        self.w_max = if window.cwnd < self.w_max {
            (cwnd * u64::from(BETA_SCALE + BETA) / u64::from(2 * BETA_SCALE)) as u32
        } else {
            window.cwnd
        };
        let reduced = (cwnd * u64::from(BETA) / u64::from(BETA_SCALE)) as u32;
        reduced.max(MIN_SSTHRESH)
    }

    /// Section 4.8: everything learned is forgotten, so that the next stage begins at its plateau.
    fn on_timeout(&mut self, _flow: &Flow) {
        *self = Cubic::new(self.hz);
    }

    /// Section 5.8: time in which nothing was sent does not count.
    fn on_transmit_start(&mut self, _window: &mut Window, flow: &Flow, idle: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + self.hz.ticks(idle)).min(self.hz.ticks(flow.now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::PacingRate;

    const RTT: Time = Time::from_millis(50);

    fn ack(now: Time, acked: u32) -> Ack {
        Ack { now, acked, window_limited: true }
    }

    fn rtt(now: Time, rtt: Time) -> RttSample {
        RttSample { now, rtt, una: 1, next: 2, srtt: Time::ZERO, pacing_rate: PacingRate::new(0) }
    }

    /// A control that has just been reduced from `cwnd` segments, without fast convergence.
    fn reduced_from(cwnd: u32) -> (Cubic, Window) {
        let mut control = Cubic::new(Hz::default());
        let mut window = Window::new(cwnd);
        control.on_rtt(&mut window, &rtt(Time::ZERO, RTT));
        window.ssthresh = control.reduced_threshold(&window);
        window.cwnd = window.ssthresh;
        (control, window)
    }

    /// One round trip of acknowledgements, two segments each, from `now` on.
    fn round(control: &mut Cubic, window: &mut Window, now: Time, rtt: Time) {
        let n = u64::from(window.cwnd / 2).max(1);
        for i in 0..n {
            control.on_ack(window, &ack(now + Time(i * rtt.0 / n), 2));
        }
    }

    #[test]
    fn the_window_follows_the_cubic_function_of_the_rfc() {
        let (mut control, mut window) = reduced_from(1000);
        assert_eq!(window.cwnd, 700);
        // Equations 1 and 2, computed here from the RFC's text: K = cbrt(1000 * 0.3 / 0.4) s.
        let k = (1000.0f64 * (1.0 - 0.7) / 0.4).cbrt();
        for n in 0..280 {
            let now = Time(n * RTT.0);
            round(&mut control, &mut window, now, RTT);
            let t = (now + RTT).0 as f64 / 1e9;
            let expected = 0.4 * (t - k).powi(3) + 1000.0;
            let got = f64::from(window.cwnd);
            assert!((got / expected - 1.0).abs() < 0.02, "{t} s: {got}, not {expected}");
        }
    }

    #[test]
    fn a_small_window_grows_as_reno_with_the_same_average() {
        // With an RTT of 10 ms the cubic function is far slower than Reno: the friendly window has
        // a segment more for every 15/8 windows acknowledged, about 0.53 = 3 * 0.3 / 1.7 a round
        // trip, and the window follows, the 32 ms between evaluations and a round trip later.
        let (mut control, mut window) = reduced_from(20);
        assert_eq!(window.cwnd, 14);
        let rtt = Time::from_millis(10);
        for n in 0..11 {
            round(&mut control, &mut window, Time(n * rtt.0), rtt);
        }
        // 11 rounds at 0.53 make 5.8 segments, 42 ms before it were 3.6.
        assert!((17..=19).contains(&window.cwnd), "{}", window.cwnd);
    }

    #[test]
    fn the_function_is_evaluated_again_at_the_next_tick_or_if_the_window_stays_after_32() {
        let (mut control, mut window) = reduced_from(1000);
        let us = Time::from_micros;
        control.on_ack(&mut window, &ack(us(900), 1));
        let first = control.per_segment;
        control.epoch.as_mut().expect("a stage").plateau += 1000;
        control.on_ack(&mut window, &ack(us(31_999), 1));
        assert_eq!(control.per_segment, first, "31 ticks later");
        control.on_ack(&mut window, &ack(us(32_000), 1));
        assert!(control.per_segment < first, "32 ticks later");
        let second = control.per_segment;
        window.cwnd += 1;
        control.epoch.as_mut().expect("a stage").plateau -= 1000;
        control.on_ack(&mut window, &ack(us(32_999), 1));
        assert_eq!(control.per_segment, second, "once a tick");
        control.on_ack(&mut window, &ack(us(33_000), 1));
        assert!(control.per_segment > second, "another window, at the next tick");
    }

    #[test]
    fn on_a_short_path_the_window_grows_by_one_segment_and_then_waits_for_the_function() {
        // The function's distance from its plateau is rounded down, so its first value is one
        // segment above the window. A millisecond later it is not: 23 acknowledgements in 2.3 ms, a
        // response of an incast, are worth one segment, and three if the clock stood still.
        let (mut control, mut window) = reduced_from(10);
        control.min_rtt = Some(Time::from_micros(150));
        for n in 0..23 {
            control.on_ack(&mut window, &ack(Time::from_micros(100 * n), 1));
        }
        assert_eq!(window.cwnd, 8);
        let (mut control, mut window) = reduced_from(10);
        (0..23).for_each(|_| control.on_ack(&mut window, &ack(Time::ZERO, 1)));
        assert_eq!(window.cwnd, 10);
    }

    #[test]
    fn a_flow_that_did_not_regain_its_window_leaves_room() {
        let (mut control, window) = reduced_from(1000);
        assert_eq!(control.reduced_threshold(&window), 490);
        // 700 * (1 + 0.7) / 2 = 595, with Linux's 717/1024 for 0.7.
        assert_eq!(control.w_max, 700 * 1741 / 2048);
    }

    #[test]
    fn after_a_timeout_the_next_stage_begins_at_its_plateau() {
        let (mut control, _) = reduced_from(1000);
        control.on_timeout(&Flow::default_at(Time::ZERO));
        let mut window = Window::with_threshold(70, 70);
        control.on_ack(&mut window, &ack(Time::ZERO, 1));
        let epoch = control.epoch.expect("a stage");
        assert_eq!((epoch.k, epoch.plateau), (0, 70));
    }

    #[test]
    fn before_the_first_loss_the_window_grows_by_a_twentieth_per_window() {
        let mut control = Cubic::new(Hz::default());
        let mut window = Window::with_threshold(100, 100);
        (0..50).for_each(|_| control.on_ack(&mut window, &ack(Time::ZERO, 2)));
        assert_eq!(window.cwnd, 105);
    }

    #[test]
    fn idle_time_does_not_move_along_the_function() {
        let (mut busy, mut busy_window) = reduced_from(1000);
        let (mut idle, mut idle_window) = (busy.clone(), busy_window.clone());
        busy.on_ack(&mut busy_window, &ack(Time::ZERO, 1));
        idle.on_ack(&mut idle_window, &ack(Time::ZERO, 1));
        let later = Time::from_secs(3);
        idle.on_transmit_start(&mut idle_window, &Flow::default_at(later), later);
        for n in 0..200 {
            busy.on_ack(&mut busy_window, &ack(Time::from_secs(1), 2));
            idle.on_ack(&mut idle_window, &ack(Time::from_secs(4), 2));
            assert_eq!(busy_window, idle_window, "{n}");
        }
    }

    #[test]
    fn hystart_sets_the_threshold_to_the_window_at_which_it_fires_and_fires_once() {
        let mut control = Cubic::new(Hz::default());
        let mut window = Window::new(100);
        control.on_rtt(&mut window, &rtt(Time::ZERO, RTT));
        (0..9).for_each(|_| control.on_rtt(&mut window, &rtt(Time(1), Time(2 * RTT.0))));
        assert!(!window.has_threshold(), "the round has one quick round trip");
        let slow = RttSample { una: 3, next: 4, ..rtt(Time(1), Time(2 * RTT.0)) };
        (0..9).for_each(|_| control.on_rtt(&mut window, &slow));
        assert_eq!(window.ssthresh, 100);
    }

    #[test]
    fn the_function_s_clock_is_the_kernel_s() {
        // Of a second in 100 ticks a 32nd is three: 40 ms later it is evaluated again, 30 ms later not.
        let (mut control, mut window) = reduced_from(1000);
        control.hz = Hz::Hz100;
        control.on_ack(&mut window, &ack(Time::from_millis(5), 1));
        let first = control.per_segment;
        control.epoch.as_mut().expect("a stage").plateau += 1000;
        control.on_ack(&mut window, &ack(Time::from_millis(39), 1));
        assert_eq!(control.per_segment, first);
        control.on_ack(&mut window, &ack(Time::from_millis(40), 1));
        assert!(control.per_segment < first);
    }
}
