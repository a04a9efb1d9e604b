//! BBR, version 1, as Linux 6.1 has it: a model of the path, its bottleneck bandwidth and least
//! round-trip time, sets the pacing rate and the window (Cardwell, Cheng, Gunn, Yeganeh and
//! Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue 14-5, 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00).
//!
//! The modes and their gains are here; how the path is measured is in `bandwidth.rs` and
//! `policer.rs`, what the window is in `cwnd.rs`. Losses reduce nothing by themselves.

mod bandwidth;
mod cwnd;
mod policer;
#[cfg(test)]
mod tests;

use super::{Ack, CongestionControl, EcnFeedback, Flow, RateSample, Registered, Start, State};
use super::{Verdict, Window};
use crate::tcp::Hz;
use crate::tcp::minmax::WindowedMax;
use bandwidth::{AckAggregation, Bandwidth};
use oorandom::Rand32;
use policer::Policer;
use sojourn_packet::Time;

/// BBR, as scenarios name it.
pub const REGISTRATION: Registered = Registered {
    name: "bbr",
    summary: "BBR version 1: paces by the path's bandwidth and least round-trip time",
    linux: Some("bbr"),
    ecn_feedback: EcnFeedback::Classic,
    telemetry: false,
    start: |start| Box::new(Bbr::new(start)),
};

/// A factor of a rate or a window, in units of 1/256.
type Gain = u64;
const UNIT: Gain = 256;
/// 2/ln 2: the least gain that doubles the rate each round trip.
const HIGH_GAIN: Gain = UNIT * 2885 / 1000 + 1;
/// Its inverse empties in one round trip what startup has queued.
const DRAIN_GAIN: Gain = UNIT * 1000 / 2885;
/// The window tolerates delayed and stretched acknowledgements.
const CWND_GAIN: Gain = 2 * UNIT;
/// Pacing gains of the probing cycle: seek more bandwidth, drain what that queued, cruise.
const CYCLE: [Gain; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The cycle begins at random in any phase but the one that drains.
const CYCLE_STARTS: u32 = 7;
/// Round trips for which the bandwidth filter remembers.
const BANDWIDTH_ROUNDS: u64 = 10;
/// Validity of the minimum round-trip time before it is measured anew, and time for which the
/// window is then reduced.
const MIN_RTT_WINDOW: Time = Time::from_secs(10);
const PROBE_RTT_TIME: Time = Time::from_millis(200);
/// The pipe is full when the bandwidth has grown by less than a quarter in three rounds.
const FULL_GROWTH: Gain = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// The round-trip time assumed before the first is measured.
const NOMINAL_RTT: Time = Time::from_millis(1);

/// Mode of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Doubles the rate each round trip until the pipe is full.
    Startup,
    /// Empties the queue that startup has built.
    Drain,
    /// Probes for bandwidth: the steady state.
    ProbeBw,
    /// Holds the window down to see the path's round-trip time without a queue; until `done`,
    /// known once the window has come down, and a whole round trip has passed.
    ProbeRtt { done: Option<Time>, round_passed: bool },
}

/// The control.
#[derive(Clone, Debug)]
pub struct Bbr {
    mode: Mode,
    random: Rand32,
    /// The filter of delivery rates.
    bandwidth: WindowedMax,
    /// Round trips, counted in packets: how many, where the present one ends in segments
    /// delivered, and whether it has just begun.
    rounds: u64,
    round_end: u64,
    round_start: bool,
    min_rtt: Option<Time>,
    min_rtt_at: Time,
    hz: Hz,
    /// Index into [`CYCLE`], and when its phase began.
    phase: usize,
    phase_start: Time,
    /// The bandwidth at the last growth, and rounds without any.
    full_bandwidth: Bandwidth,
    full_rounds: u32,
    full: bool,
    policer: Policer,
    aggregation: AckAggregation,
    /// Sending has just begun after an idle time.
    idle_restart: bool,
    seen_rtt: bool,
    pacing_rate: u64,
    /// The window before it was cut, and the sender's state at the last acknowledgement.
    prior_cwnd: u32,
    prior_state: State,
    packet_conservation: bool,
}

impl Bbr {
    /// A fresh control, which paces the initial window over the handshake's round trip.
    pub fn new(start: &Start) -> Bbr {
        let mut control = Bbr {
            mode: Mode::Startup,
            random: Rand32::new(start.seed),
            bandwidth: WindowedMax::default(),
            rounds: 0,
            round_end: 0,
            round_start: false,
            min_rtt: start.rtt,
            min_rtt_at: start.now,
            hz: start.hz,
            phase: 0,
            phase_start: Time::ZERO,
            full_bandwidth: Bandwidth::ZERO,
            full_rounds: 0,
            full: false,
            policer: Policer::default(),
            aggregation: AckAggregation::new(start.now),
            idle_restart: false,
            seen_rtt: false,
            pacing_rate: 0,
            prior_cwnd: 0,
            prior_state: State::Open,
            packet_conservation: false,
        };
        control.begin_pacing(start.window, start.mss, start.rtt);
        control
    }

    /// The pacing rate before any bandwidth was measured: a window a round trip, at high gain.
    fn begin_pacing(&mut self, cwnd: u32, mss: u32, srtt: Option<Time>) {
        self.seen_rtt |= srtt.is_some();
        let rtt = srtt.unwrap_or(NOMINAL_RTT).max(Time::from_micros(1));
        let bandwidth = Bandwidth::new(u64::from(cwnd), rtt);
        self.pacing_rate = bandwidth.pacing_rate(mss, HIGH_GAIN);
    }

    /// The greatest delivery rate of the last rounds.
    fn max_bandwidth(&self) -> Bandwidth {
        Bandwidth(self.bandwidth.get())
    }

    /// The bandwidth to go by.
    fn bandwidth(&self) -> Bandwidth {
        self.policer.rate().unwrap_or(self.max_bandwidth())
    }

    fn pacing_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBw if self.policer.rate().is_some() => UNIT,
            Mode::ProbeBw => CYCLE[self.phase],
            Mode::ProbeRtt { .. } => UNIT,
        }
    }

    fn cwnd_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => CWND_GAIN,
            Mode::ProbeRtt { .. } => UNIT,
        }
    }

    fn set_pacing_rate(&mut self, window: &Window, flow: &Flow, bandwidth: Bandwidth, gain: Gain) {
        let rate = bandwidth.pacing_rate(flow.mss, gain);
        if !self.seen_rtt && flow.srtt.is_some() {
            self.begin_pacing(window.cwnd, flow.mss, flow.srtt);
        }
        // In startup the rate never falls: early samples are low.
        if self.full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// A new sample of the delivery rate, and perhaps a new round trip.
    fn update_bandwidth(&mut self, flow: &Flow, sample: &RateSample) {
        self.round_start = false;
        let Some((delivered, interval)) = sample.rate else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = flow.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.sample_policer(flow, sample.lost, sample.app_limited);
        let bandwidth = Bandwidth::new(delivered, interval);
        // A sample that the application limited says only that the path has at least so much.
        if !sample.app_limited || bandwidth >= self.max_bandwidth() {
            self.bandwidth.see(BANDWIDTH_ROUNDS, self.rounds, bandwidth.0);
        }
    }

    fn sample_policer(&mut self, flow: &Flow, lost: u32, app_limited: bool) {
        let probing = self.mode == Mode::ProbeBw;
        let done = self.policer.see(flow, self.round_start, lost, app_limited, probing);
        if done {
            self.begin_probing(flow.delivered_at);
        }
    }

    /// The phase of the cycle lasts a least round trip, and longer or shorter where the flight
    /// must first rise or has already fallen.
    fn update_phase(&mut self, flow: &Flow, sample: &RateSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let whole =
            flow.delivered_at.saturating_sub(self.phase_start) > self.min_rtt.unwrap_or(Time::MAX);
        let gain = self.pacing_gain();
        let in_network = || self.in_network_at_departure(flow, sample.prior_in_flight);
        let target = |gain| self.inflight(self.max_bandwidth(), gain, flow.mss);
        let next = if gain == UNIT {
            whole
        } else if gain > UNIT {
            whole && (sample.lost > 0 || in_network() >= target(gain))
        } else {
            whole || in_network() <= target(UNIT)
        };
        if next {
            self.next_phase(flow.delivered_at);
        }
    }

    fn next_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_start = now;
    }

    fn begin_probing(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.phase = CYCLE.len() - 1 - self.random.rand_range(0..CYCLE_STARTS) as usize;
        self.next_phase(now);
    }

    fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.full || !self.round_start || sample.app_limited {
            return;
        }
        let bandwidth = self.max_bandwidth();
        if bandwidth.0 >= self.full_bandwidth.0 * FULL_GROWTH / UNIT {
            self.full_bandwidth = bandwidth;
            self.full_rounds = 0;
        } else {
            self.full_rounds += 1;
            self.full = self.full_rounds >= FULL_ROUNDS;
        }
    }

    fn check_drain(&mut self, window: &mut Window, flow: &Flow) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(self.max_bandwidth(), UNIT, flow.mss);
        }
        if self.mode == Mode::Drain
            && self.in_network_at_departure(flow, flow.in_flight)
                <= self.inflight(self.max_bandwidth(), UNIT, flow.mss)
        {
            self.begin_probing(flow.delivered_at);
        }
    }

    fn update_min_rtt(&mut self, window: &mut Window, flow: &Flow, sample: &RateSample) -> Verdict {
        let expired = self.hz.ticks(flow.now) > self.hz.ticks(self.min_rtt_at + MIN_RTT_WINDOW);
        if let Some(rtt) = sample.rtt
            && (self.min_rtt.is_none_or(|min| rtt < min) || (expired && !sample.ack_delayed))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = flow.now;
        }
        let probing = matches!(self.mode, Mode::ProbeRtt { .. });
        if expired && !self.idle_restart && !probing {
            // In this order: a window remembered from before a recovery is not forgotten.
            self.mode = Mode::ProbeRtt { done: None, round_passed: false };
            self.save_cwnd(window);
        }
        let mut verdict = Verdict::default();
        if let Mode::ProbeRtt { done, round_passed } = self.mode {
            verdict.ignore_flight = true;
            self.probe_rtt(window, flow, done, round_passed);
        }
        // A restart after an idle time ends with the first segment delivered.
        if sample.rate.is_some_and(|(delivered, _)| delivered > 0) {
            self.idle_restart = false;
        }
        verdict
    }

    /// The window stays down for 200 ms and a round trip, counted from when it has come down.
    fn probe_rtt(&mut self, window: &mut Window, flow: &Flow, done: Option<Time>, passed: bool) {
        match done {
            None if flow.in_flight <= cwnd::MIN_CWND => {
                let done = Some(flow.now + PROBE_RTT_TIME);
                self.mode = Mode::ProbeRtt { done, round_passed: false };
                self.round_end = flow.delivered;
            }
            None => {}
            Some(_) => {
                let round_passed = passed || self.round_start;
                self.mode = Mode::ProbeRtt { done, round_passed };
                if round_passed {
                    self.check_probe_rtt_done(window, flow);
                }
            }
        }
    }

    fn check_probe_rtt_done(&mut self, window: &mut Window, flow: &Flow) {
        let Mode::ProbeRtt { done: Some(done), .. } = self.mode else { return };
        if self.hz.ticks(flow.now) <= self.hz.ticks(done) {
            return;
        }
        self.min_rtt_at = flow.now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.full {
            self.begin_probing(flow.delivered_at);
        } else {
            self.mode = Mode::Startup;
        }
    }
}

impl CongestionControl for Bbr {
    /// The window is set by [`CongestionControl::on_rate`] alone.
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// Losses do not lower the threshold; the window is remembered to be restored.
    fn reduced_threshold(&mut self, window: &Window) -> u32 {
        self.save_cwnd(window);
        window.ssthresh
    }

    fn restored_window(&mut self, window: &Window, _prior: u32) -> u32 {
        self.full_bandwidth = Bandwidth::ZERO;
        self.full_rounds = 0;
        self.policer = Policer::default();
        window.cwnd
    }

    /// A timeout ends a round trip; what it lost may show a policer.
    fn on_timeout(&mut self, flow: &Flow) {
        self.prior_state = State::Loss;
        self.full_bandwidth = Bandwidth::ZERO;
        self.round_start = true;
        self.sample_policer(flow, 1, false);
    }

    fn on_transmit_start(&mut self, window: &mut Window, flow: &Flow, _idle: Time) {
        if !flow.app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation = self.aggregation.restarted(flow.now);
        match self.mode {
            // Not faster than the path: there is no hurry.
            Mode::ProbeBw => self.set_pacing_rate(window, flow, self.bandwidth(), UNIT),
            Mode::ProbeRtt { .. } => self.check_probe_rtt_done(window, flow),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_rate(
        &mut self,
        window: &mut Window,
        flow: &Flow,
        sample: &RateSample,
    ) -> Option<Verdict> {
        self.update_bandwidth(flow, sample);
        self.update_aggregation(flow, sample, window.cwnd);
        self.update_phase(flow, sample);
        self.check_full_pipe(sample);
        self.check_drain(window, flow);
        let verdict = self.update_min_rtt(window, flow, sample);
        self.set_pacing_rate(window, flow, self.bandwidth(), self.pacing_gain());
        self.set_cwnd(window, flow, sample);
        Some(verdict)
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pacing_rate)
    }

    fn buffered_windows(&self) -> u64 {
        3
    }

    fn least_burst(&self) -> u32 {
        cwnd::least_burst(self.pacing_rate)
    }
}
