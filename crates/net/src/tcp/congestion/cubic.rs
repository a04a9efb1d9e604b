//! CUBIC, RFC 9438: the window is a cubic function of the time since the last reduction, never
//! below what Reno would have. Windows are floating-point segments, as in the RFC; times are
//! integers, and the one cube root is taken in integers, so that every machine computes the same.
//! Slow start ends by HyStart, as it does in Linux; section 4.10 would prefer HyStart++.

use super::cube_root::cube_root;
use super::hystart::HyStart;
use super::{Ack, CongestionControl};
use sojourn_packet::Time;

/// Aggressiveness of the cubic function (section 5), segments per second cubed.
const C: f64 = 0.4;
/// Multiplicative decrease (section 4.6).
const BETA: f64 = 0.7;
/// Growth of the Reno-friendly window that matches [`BETA`] (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// The smallest threshold in segments (section 4.6).
const MIN_SSTHRESH: f64 = 2.0;

/// The control.
#[derive(Clone, Debug)]
pub struct Cubic {
    mss: f64,
    initial_window: f64,
    /// Window, in segments as everything below.
    cwnd: f64,
    /// Threshold; infinite while there is none.
    ssthresh: f64,
    /// Window just before the last reduction, lowered by fast convergence; 0 after a timeout.
    w_max: f64,
    /// Window at the last reduction, from which on Reno would grow by one segment per window.
    cwnd_prior: f64,
    /// The congestion avoidance stage, from its first acknowledgement on.
    epoch: Option<Epoch>,
    hystart: HyStart,
}

/// One congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// How long the function takes to reach `plateau` again.
    k: Time,
    /// W_max of this stage.
    plateau: f64,
    /// What Reno would have by now.
    w_est: f64,
}

impl Cubic {
    /// A fresh control; `mss` in bytes, `initial_window` in segments.
    pub fn new(mss: u32, initial_window: u32) -> Cubic {
        let initial_window = f64::from(initial_window);
        Cubic {
            mss: f64::from(mss),
            initial_window,
            cwnd: initial_window,
            ssthresh: f64::INFINITY,
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            hystart: HyStart::default(),
        }
    }

    fn begin_epoch(&self, now: Time) -> Epoch {
        let (plateau, k) = if self.cwnd < self.w_max {
            // K = cbrt((W_max - cwnd_epoch) / C) in seconds (equation 2); cubed in ns, 1e27.
            let cubed = (self.w_max - self.cwnd) / C * 1e27;
            (self.w_max, Time(cube_root(cubed as u128)))
        } else {
            (self.cwnd, Time::ZERO)
        };
        Epoch { start: now, k, plateau, w_est: self.cwnd }
    }

    /// Sections 4.3 to 4.5: one acknowledgement of `delivered` segments.
    fn avoid_congestion(&mut self, ack: &Ack, delivered: f64) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(ack.now));
        let t = ack.now.saturating_sub(epoch.start);
        let alpha = if epoch.w_est < self.cwnd_prior { ALPHA } else { 1.0 };
        epoch.w_est += alpha * delivered / self.cwnd;
        if epoch.window_at(t) < epoch.w_est {
            self.cwnd = self.cwnd.max(epoch.w_est);
        } else {
            let target = epoch.window_at(t + ack.srtt).clamp(self.cwnd, 1.5 * self.cwnd);
            self.cwnd += (target - self.cwnd) / self.cwnd * delivered;
        }
        self.epoch = Some(epoch);
    }

    /// Section 4.6. The RFC takes the bytes in flight; Linux, whose traffic is the yardstick, the
    /// window.
    fn reduce_threshold(&mut self) {
        self.ssthresh = (self.cwnd * BETA).max(MIN_SSTHRESH);
        self.cwnd_prior = self.cwnd;
        self.epoch = None;
    }
}

impl Epoch {
    /// W_cubic(t) = C (t - K)^3 + W_max (equation 1).
    fn window_at(&self, t: Time) -> f64 {
        let distance = (t.0 as i64 - self.k.0 as i64) as f64 / 1e9;
        C * distance * distance * distance + self.plateau
    }
}

impl CongestionControl for Cubic {
    fn window(&self) -> u64 {
        // Rounded, so that a window of 6.999... segments for 0.7 times 10 still sends 7.
        (self.cwnd * self.mss + 0.5) as u64
    }

    fn ssthresh(&self) -> u64 {
        // An infinite threshold saturates to u64::MAX, which is what it is to be.
        (self.ssthresh * self.mss + 0.5) as u64
    }

    fn on_ack(&mut self, ack: &Ack) {
        if self.cwnd < self.ssthresh && self.hystart.on_ack(ack, self.cwnd) {
            self.ssthresh = self.cwnd;
        }
        if !ack.window_limited {
            return;
        }
        let mut delivered = ack.delivered as f64 / self.mss;
        if self.cwnd < self.ssthresh {
            let step = delivered.min(self.ssthresh - self.cwnd);
            self.cwnd += step;
            delivered -= step;
        }
        if delivered > 0.0 {
            self.avoid_congestion(ack, delivered);
        }
    }

    fn on_congestion(&mut self, _now: Time) {
        // Fast convergence (section 4.7): a flow that could not regain its window leaves room.
        self.w_max =
            if self.cwnd < self.w_max { self.cwnd * (1.0 + BETA) / 2.0 } else { self.cwnd };
        self.reduce_threshold();
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, _now: Time, again: bool) {
        if !again {
            self.reduce_threshold();
        }
        // Section 4.8: the next stage begins at its plateau, with K = 0.
        self.w_max = 0.0;
        self.epoch = None;
        self.hystart = HyStart::default();
        self.cwnd = 1.0;
    }

    fn on_idle(&mut self, idle: Time, restart: bool) {
        // Section 5.8: time in which nothing was sent does not count.
        if let Some(epoch) = &mut self.epoch {
            epoch.start += idle;
        }
        if restart {
            self.cwnd = self.cwnd.min(self.initial_window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1448;
    const RTT: Time = Time(50_000_000);

    fn ack(now: Time, segments: f64) -> Ack {
        Ack {
            now,
            delivered: (segments * f64::from(MSS)) as u64,
            rtt: Some(RTT),
            srtt: RTT,
            in_flight: 0,
            new_round: false,
            window_limited: true,
        }
    }

    /// A control that has just been reduced from `cwnd` segments, without fast convergence.
    fn reduced_from(cwnd: u32) -> Cubic {
        let mut control = Cubic::new(MSS, cwnd);
        control.on_congestion(Time::ZERO);
        control
    }

    fn segments(control: &Cubic) -> f64 {
        control.window() as f64 / f64::from(MSS)
    }

    #[test]
    fn the_window_follows_the_cubic_function_of_the_rfc() {
        let mut control = reduced_from(1000);
        assert!((segments(&control) - 700.0).abs() < 0.01);
        // Equations 1 and 2, computed here from the RFC's text: K = cbrt(1000 * 0.3 / 0.4) s.
        let k = (1000.0f64 * (1.0 - 0.7) / 0.4).cbrt();
        let mut now = Time::ZERO;
        while now < Time::from_secs(14) {
            // One window of acknowledgements, spread over one round trip.
            for _ in 0..100 {
                let share = segments(&control) / 100.0;
                control.on_ack(&ack(now, share));
                now += Time(RTT.0 / 100);
            }
            let t = now.0 as f64 / 1e9;
            let expected = 0.4 * (t - k).powi(3) + 1000.0;
            let got = segments(&control);
            assert!((got / expected - 1.0).abs() < 0.01, "{t} s: {got}, not {expected}");
        }
    }

    #[test]
    fn a_small_window_grows_as_reno_with_the_same_average() {
        // With a window of 10 and an RTT of 10 ms the cubic function is slower than Reno: the
        // window must grow by 3 * 0.3 / 1.7 segments a round trip until it is back at 10.
        let mut control = reduced_from(10);
        let rtt = Time::from_millis(10);
        let mut now = Time::ZERO;
        for round in 1..=5 {
            let window = segments(&control);
            for _ in 0..10 {
                control.on_ack(&Ack { srtt: rtt, ..ack(now, window / 10.0) });
                now += Time(rtt.0 / 10);
            }
            let expected = 7.0 + f64::from(round) * 3.0 * 0.3 / 1.7;
            assert!((segments(&control) - expected).abs() < 0.1, "{round}");
        }
    }

    #[test]
    fn a_flow_that_did_not_regain_its_window_leaves_room() {
        let mut control = reduced_from(1000);
        control.on_congestion(Time::ZERO);
        assert!((control.w_max - 700.0 * 0.85).abs() < 1e-9);
        assert!((segments(&control) - 490.0).abs() < 0.01);
    }

    #[test]
    fn after_a_timeout_the_next_stage_begins_at_its_plateau() {
        let mut control = Cubic::new(MSS, 100);
        control.on_timeout(Time::ZERO, false);
        assert_eq!(control.window(), u64::from(MSS));
        assert_eq!(control.ssthresh(), 70 * u64::from(MSS));
        control.on_ack(&ack(Time::ZERO, 69.0));
        control.on_ack(&ack(Time::ZERO, 1.0));
        let epoch = control.epoch.unwrap();
        assert_eq!(epoch.k, Time::ZERO);
        assert!((epoch.plateau - 70.0).abs() < 0.01);
    }

    #[test]
    fn idle_time_does_not_move_along_the_function() {
        let mut busy = reduced_from(1000);
        let mut idle = reduced_from(1000);
        busy.on_ack(&ack(Time::ZERO, 1.0));
        idle.on_ack(&ack(Time::ZERO, 1.0));
        idle.on_idle(Time::from_secs(3), false);
        busy.on_ack(&ack(Time::from_secs(1), 1.0));
        idle.on_ack(&ack(Time::from_secs(4), 1.0));
        assert_eq!(busy.window(), idle.window());
    }

    #[test]
    fn without_a_loss_there_is_no_threshold() {
        assert_eq!(Cubic::new(MSS, 10).ssthresh(), u64::MAX);
    }
}
