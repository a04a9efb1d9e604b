//! HPCC (Li et al., SIGCOMM 2019, Algorithm 1): the window follows the use of the most loaded hop, which
//! switches write into data packets and the receiver returns.
//!
//! Parameters are those of the paper's section 5.1: eta 95 %, maxStage 5, and `W_AI` = B T (1 - eta) / N with
//! N = 100, which is its 80 bytes at 100 Gbit/s and 13 us. T is the flow's `base_rtt`, B the rate of the
//! slowest hop, once it is known. A flow begins with its initial window, where the paper's hosts begin with B T,
//! which no window exceeds. A loss leaves the window: the paper's network has none. The paper's names of
//! variables are used.

use super::{Ack, CongestionControl, EcnFeedback, Measured, Registered, Start, Window};
use crate::wire::{Hop, Telemetry};
use sojourn_packet::Time;

/// HPCC, as scenarios name it.
pub const REGISTRATION: Registered = Registered {
    name: "hpcc",
    summary: "HPCC (SIGCOMM 2019): keeps hops at 95 % by telemetry that switches write (INT)",
    linux: None,
    ecn_feedback: EcnFeedback::Classic,
    telemetry: true,
    start: |start| Box::new(Hpcc::new(start)),
};

/// The use of a link that is aimed at.
const ETA: f64 = 0.95;
/// Rounds of additive increase in a row.
const MAX_STAGE: u32 = 5;
/// Flows that are expected at a link.
const FLOWS: f64 = 100.0;
const NANOSECONDS: f64 = 1e9;
/// Mbit/s of a byte per ns.
const MEGABITS: f64 = 8_000.0;
/// T of a flow without one: checked before it gets here.
const ANY_RTT: Time = Time::from_micros(100);

/// The control. Windows are in bytes.
#[derive(Clone, Debug)]
pub struct Hpcc {
    mss: f64,
    /// T in ns.
    base_rtt: f64,
    /// The largest W, and `W_AI`.
    limit: f64,
    increase: f64,
    /// W and Wc.
    window: f64,
    reference: f64,
    /// U: bytes in flight at the most loaded hop, in parts of what it carries in T.
    in_flight: f64,
    stage: u32,
    last_update: u64,
    /// L: the hops of the last acknowledgement.
    last: Telemetry,
}

impl Hpcc {
    fn new(start: &Start) -> Hpcc {
        let mss = f64::from(start.mss);
        let initial = f64::from(start.window) * mss;
        Hpcc {
            mss,
            base_rtt: start.base_rtt.unwrap_or(ANY_RTT).0 as f64,
            limit: initial,
            increase: initial * (1.0 - ETA) / FLOWS,
            window: initial,
            reference: initial,
            in_flight: 0.0,
            stage: 0,
            last_update: 0,
            last: Telemetry::default(),
        }
    }

    /// `MeasureInflight`.
    fn measure_in_flight(&mut self, hops: &[Hop]) {
        let (mut u, mut tau) = (0.0, 0.0);
        for (hop, last) in hops.iter().zip(self.last.hops()) {
            let span = hop.at.saturating_sub(last.at).0 as f64;
            // Nothing is measured between packets of one instant, nor by a hop without a rate.
            if span == 0.0 || hop.rate == 0 {
                continue;
            }
            let rate = f64::from(hop.rate) / MEGABITS;
            let sent = f64::from(hop.sent.wrapping_sub(last.sent)) / span;
            let queue = f64::from(hop.queue.min(last.queue));
            let used = queue / (rate * self.base_rtt) + sent / rate;
            if used > u {
                (u, tau) = (used, span);
            }
        }
        let share = tau.min(self.base_rtt) / self.base_rtt;
        self.in_flight = (1.0 - share) * self.in_flight + share * u;
    }

    /// B T of the slowest hop, if the hops have rates.
    fn limit_window(&mut self, hops: &[Hop]) {
        if let Some(rate) = hops.iter().map(|hop| hop.rate).filter(|rate| *rate > 0).min() {
            self.limit = f64::from(rate) / MEGABITS * self.base_rtt;
            self.increase = self.limit * (1.0 - ETA) / FLOWS;
        }
    }

    /// `ComputeWind`.
    fn compute_window(&mut self, update: bool) {
        let multiplies = self.in_flight >= ETA || self.stage >= MAX_STAGE;
        let window = if multiplies {
            self.reference / (self.in_flight / ETA) + self.increase
        } else {
            self.reference + self.increase
        };
        self.window = window.clamp(self.increase, self.limit);
        if update {
            self.stage = if multiplies { 0 } else { self.stage + 1 };
            self.reference = self.window;
        }
    }
}

impl CongestionControl for Hpcc {
    /// `NewAck`; the first only begins the measurement.
    fn on_telemetry(&mut self, window: &mut Window, seen: &Measured) {
        self.limit_window(seen.telemetry.hops());
        if seen.telemetry.hops().len() == self.last.hops().len() {
            self.measure_in_flight(seen.telemetry.hops());
            let update = seen.una > self.last_update;
            self.compute_window(update);
            if update {
                self.last_update = seen.next;
            }
        }
        self.last = seen.telemetry;
        // Pacing is what holds a window of less than a segment back.
        window.cwnd = ((self.window / self.mss).ceil() as u32).max(1);
    }

    fn on_ack(&mut self, _: &mut Window, _: &Ack) {}

    fn reduced_threshold(&mut self, window: &Window) -> u32 {
        window.cwnd
    }

    /// R = W / T.
    fn pacing_rate(&self) -> Option<u64> {
        Some((self.window / self.base_rtt * NANOSECONDS) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Time = Time::from_micros(10);
    /// B T at 100 Gbit/s.
    const PRODUCT: f64 = 125_000.0;
    const AI: f64 = 62.5;

    fn flow() -> (Hpcc, Window) {
        let start = Start {
            now: Time::ZERO,
            mss: 1_250,
            window: 100,
            rtt: None,
            base_rtt: Some(T),
            hz: crate::tcp::Hz::default(),
            seed: 0,
        };
        (Hpcc::new(&start), Window::new(100))
    }

    /// An acknowledgement of `una` of a packet that met these hops.
    fn measured(una: u64, hops: &[Hop]) -> Measured {
        Measured { telemetry: Telemetry::new(true, hops), una, next: una + 100 }
    }

    fn hop(queue: u32, us: u64, sent: u32) -> Hop {
        Hop { queue, at: Time::from_micros(us), sent, rate: 100_000 }
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
    }

    #[test]
    fn the_most_loaded_hop_and_the_smaller_queue_count() {
        let (mut hpcc, mut window) = flow();
        hpcc.on_telemetry(&mut window, &measured(1, &[hop(0, 0, 0), hop(50_000, 0, 0)]));
        near(hpcc.in_flight, 0.0);
        // 10 us later: the first hop sent 62,500 bytes; the second 125,000, with 25,000 of queue at least.
        let next = [hop(0, 10, 62_500), hop(25_000, 10, 125_000)];
        hpcc.on_telemetry(&mut window, &measured(2, &next));
        near(hpcc.in_flight, 25_000.0 / PRODUCT + 1.0);
        near(hpcc.window, PRODUCT / (1.2 / ETA) + AI);
        near(hpcc.pacing_rate().unwrap() as f64, (hpcc.window / 1e4 * 1e9).floor());
        assert_eq!(window.cwnd, 80);
    }

    #[test]
    fn the_average_weighs_a_sample_by_its_time_in_a_round_trip() {
        let (mut hpcc, mut window) = flow();
        hpcc.on_telemetry(&mut window, &measured(1, &[hop(0, 0, 0)]));
        hpcc.on_telemetry(&mut window, &measured(1, &[hop(0, 10, 100_000)]));
        near(hpcc.in_flight, 0.8);
        // 2 us at half the rate: 4/5 of 0.8 and 1/5 of 0.5.
        hpcc.on_telemetry(&mut window, &measured(1, &[hop(0, 12, 112_500)]));
        near(hpcc.in_flight, 0.74);
        // A time of more than T counts as T.
        hpcc.on_telemetry(&mut window, &measured(1, &[hop(0, 32, 262_500)]));
        near(hpcc.in_flight, 0.6);
    }

    #[test]
    fn the_reference_moves_once_a_round_trip_and_multiplies_after_five_rounds() {
        let (mut hpcc, mut window) = flow();
        let mut sent = 0;
        let mut ack = |hpcc: &mut Hpcc, us: u64, una: u64| {
            sent += 62_500;
            hpcc.on_telemetry(&mut window, &measured(una, &[hop(0, us, sent)]));
        };
        hpcc.reference = 50_000.0;
        ack(&mut hpcc, 0, 1);
        ack(&mut hpcc, 10, 101);
        near(hpcc.reference, 50_000.0 + AI);
        // The same round trip: each acknowledgement acts, from the same reference.
        ack(&mut hpcc, 20, 150);
        ack(&mut hpcc, 30, 151);
        near(hpcc.window, 50_000.0 + 2.0 * AI);
        near(hpcc.reference, 50_000.0 + AI);
        for (us, una) in [(40, 202), (50, 303), (60, 404), (70, 505)] {
            ack(&mut hpcc, us, una);
        }
        near(hpcc.reference, 50_000.0 + 5.0 * AI);
        assert_eq!(hpcc.stage, MAX_STAGE);
        // Half of the link was used, so the window nearly doubles.
        ack(&mut hpcc, 80, 606);
        near(hpcc.reference, (50_000.0 + 5.0 * AI) * ETA / 0.5 + AI);
        assert_eq!(hpcc.stage, 0);
    }

    #[test]
    fn the_window_is_at_most_what_the_slowest_hop_carries_in_a_round_trip() {
        let (mut hpcc, mut window) = flow();
        let slow = Hop { rate: 10_000, ..hop(0, 0, 0) };
        hpcc.on_telemetry(&mut window, &measured(1, &[hop(0, 0, 0), slow]));
        let slow = Hop { at: Time::from_micros(1), ..slow };
        hpcc.on_telemetry(&mut window, &measured(2, &[hop(0, 1, 0), slow]));
        near(hpcc.window, PRODUCT / 10.0);
    }
}
