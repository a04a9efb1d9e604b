//! PIE, RFC 8033: drops on arrival with a probability that a proportional-integral controller
//! adjusts each T_UPDATE, so that the queueing latency settles at QDELAY_REF.
//!
//! The basic algorithm of section 4 (random dropping 4.1, probability 4.2 with its auto-tuned
//! coefficients and exponential decay, burst allowance 4.4), and of section 5: ECN (5.1), optional
//! derandomisation (5.4), and the cap on adjustments (5.5). Latency (4.3) is measured with
//! timestamps: the sojourn time of the packet dequeued last, zero when the queue is empty; there is
//! no estimate of the departure rate (5.2). Linux's extra 2 % above 250 ms is not included.
//!
//! It depends on enqueue times, and must not depend on the rate at which it drains.

use super::pi2::Periodic;
use super::probability::{Dice, Probability, proportional_integral};
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, ECN, FULL_FRAME, Kind, LIMIT_BYTES,
    LIMIT_PACKETS, LONGEST, Limits, Parameter, QueueLength, Queued, Registered, SEED, Settings,
};
use crate::ecn;
use sojourn_packet::{Bytes, Time};

const QDELAY_REF: Time = Time::from_millis(15);
const T_UPDATE: Time = Time::from_millis(15);
const MAX_BURST: Time = Time::from_millis(150);
/// 1/8 Hz and 1 1/4 Hz.
const ALPHA: u64 = 125;
const BETA: u64 = 1250;
const MARK_ECNTH: u64 = 100_000;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "pie",
    summary: "RFC 8033 PIE: drops on arrival, latency steered by a PI controller",
    parameters: &[
        Parameter::new("qdelay_ref", Kind::Time, QDELAY_REF.0, "latency to settle at (QDELAY_REF)"),
        Parameter::new("t_update", Kind::Time, T_UPDATE.0, "time between two updates (T_UPDATE)"),
        Parameter::new(
            "max_burst",
            Kind::Time,
            MAX_BURST.0,
            "burst allowed without drops (MAX_BURST)",
        ),
        Parameter::new(
            "alpha",
            Kind::Frequency,
            ALPHA,
            "weight of the latency's distance from qdelay_ref",
        ),
        Parameter::new("beta", Kind::Frequency, BETA, "weight of the latency's change"),
        Parameter::new(
            "mean_pktsize",
            Kind::Size,
            FULL_FRAME.0,
            "nothing is dropped if two such packets or less are queued (MEAN_PKTSIZE)",
        ),
        Parameter::new(
            "mark_ecnth",
            Kind::Share,
            MARK_ECNTH,
            "drop probability above which packets are dropped, not marked (mark_ecnth)",
        ),
        Parameter::new("derandomize", Kind::Flag, 0, "keep drops apart by accumulated probability"),
        ECN,
        LIMIT_BYTES,
        LIMIT_PACKETS,
        SEED,
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let params = Params {
        qdelay_ref: settings.time("qdelay_ref")?,
        t_update: settings.within("t_update", 1_000..=LONGEST.0).map(Time)?,
        max_burst: settings.within("max_burst", 0..=LONGEST.0).map(Time)?,
        gains: settings.gains()?,
        mean_pktsize: Bytes(settings.within("mean_pktsize", 0..=1_000_000)?),
        mark_ecnth: settings
            .switch("ecn")?
            .then_some(Probability::from_ppm(settings.ppm("mark_ecnth")?)),
        derandomize: settings.switch("derandomize")?,
        limits: settings.limits()?,
    };
    Ok(Box::new(Pie::new(params, settings.get("seed").unwrap_or_default())))
}

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// QDELAY_REF: the latency to settle at. Default 15 ms.
    pub qdelay_ref: Time,
    /// T_UPDATE: time between two updates. Default 15 ms.
    pub t_update: Time,
    /// MAX_BURST: time for which a burst is let through. Default 150 ms.
    pub max_burst: Time,
    /// alpha and beta in mHz. Defaults 125 (1/8 Hz) and 1250 (1 1/4 Hz).
    pub gains: (u64, u64),
    /// MEAN_PKTSIZE: nothing is dropped while no more than two of these are queued. Default 1514
    /// bytes, a full frame.
    pub mean_pktsize: Bytes,
    /// mark_ecnth: with a probability above this, ECN-capable packets are dropped as others are. At it
    /// they are marked, as the sentence of section 5.1 has it ("exceeds"), not its listing ("<").
    /// Absent: nothing is marked, which is the default; with `ecn` 10 %.
    pub mark_ecnth: Option<Probability>,
    /// Section 5.4: no drop while the accumulated probability is below 0.85, one for certain from
    /// 8.5. Default: off.
    pub derandomize: bool,
    /// Limits of the queue. Default: no limit.
    pub limits: Limits,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            qdelay_ref: QDELAY_REF,
            t_update: T_UPDATE,
            max_burst: MAX_BURST,
            gains: (ALPHA, BETA),
            mean_pktsize: FULL_FRAME,
            mark_ecnth: None,
            derandomize: false,
            limits: Limits::default(),
        }
    }
}

/// State, names as in the RFC without the `PIE->`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Probability with which a packet is dropped on arrival.
    pub drop_prob: Probability,
    /// Remaining burst allowance.
    pub burst_allowance: Time,
    /// Latency now: of the packet dequeued last.
    pub current_qdelay: Time,
    /// Latency at the last update.
    pub qdelay_old: Time,
    /// Probability accumulated since the last drop, in 2^-60.
    pub accu_prob: u128,
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets dropped at random.
    pub drops: u64,
    /// Packets marked instead.
    pub marks: u64,
    /// Packets refused for a limit.
    pub over_limit: u64,
}

/// A queue managed by PIE.
#[derive(Debug)]
pub struct Pie {
    params: Params,
    state: State,
    stats: Stats,
    update: Periodic,
    dice: Dice,
    backlog: Backlog,
}

impl Pie {
    /// An empty queue; the first update is one T_UPDATE after time zero.
    pub fn new(params: Params, seed: u64) -> Pie {
        Pie {
            params,
            state: State { burst_allowance: params.max_burst, ..State::default() },
            stats: Stats::default(),
            update: Periodic::new(params.t_update),
            dice: Dice::new(seed),
            backlog: Backlog::default(),
        }
    }

    fn update_until(&mut self, now: Time) {
        while self.update.due(now).is_some() {
            if self.backlog.is_empty() {
                self.state.current_qdelay = Time::ZERO;
            }
            self.calculate_drop_prob();
            if self.backlog.is_empty() && self.is_at_rest() {
                self.update.skip(now);
            }
        }
    }

    /// Further updates of an empty queue would change nothing.
    fn is_at_rest(&self) -> bool {
        let State { drop_prob, burst_allowance, qdelay_old, .. } = self.state;
        (drop_prob, burst_allowance, qdelay_old) == (Probability::ZERO, Time::ZERO, Time::ZERO)
    }

    /// Section 4.2, each T_UPDATE; the burst allowance is section 4.4's.
    fn calculate_drop_prob(&mut self) {
        let Params { qdelay_ref, gains, t_update, .. } = self.params;
        let state = &mut self.state;
        let (current, old) = (state.current_qdelay, state.qdelay_old);
        let mut p = proportional_integral(gains, qdelay_ref.0, old.0, current.0);
        p /= i128::from(auto_tuning(state.drop_prob));
        // Section 5.5: steps of at most 2 % once the probability is high.
        if state.drop_prob >= Probability::from_ppm(100_000) {
            p = p.min(i128::from(Probability::from_ppm(20_000).raw()));
        }
        state.drop_prob = state.drop_prob.changed(p, Probability::ONE);
        if current == Time::ZERO && old == Time::ZERO {
            state.drop_prob = state.drop_prob.and(Probability::from_ppm(980_000));
        }
        state.qdelay_old = current;
        state.burst_allowance = state.burst_allowance.saturating_sub(t_update);
    }

    /// Section 4.4, for each packet that arrives: nothing is dropped and both samples are below half of
    /// QDELAY_REF, so congestion is over and the next burst is let through.
    fn renew_burst_allowance(&mut self) {
        let State { drop_prob, current_qdelay, qdelay_old, .. } = self.state;
        let low = |delay: Time| 2 * delay.0 < self.params.qdelay_ref.0;
        if drop_prob == Probability::ZERO && low(current_qdelay) && low(qdelay_old) {
            self.state.burst_allowance = self.params.max_burst;
        }
    }

    /// Section 4.1: whether the dice decide against a packet that arrives.
    fn drop_early(&mut self) -> bool {
        let (params, state) = (&self.params, &mut self.state);
        if state.burst_allowance > Time::ZERO {
            return false;
        }
        // Safeguards, so that the link is not left idle.
        let is_calm = 2 * state.qdelay_old.0 < params.qdelay_ref.0
            && state.drop_prob < Probability::from_ppm(200_000);
        if is_calm || self.backlog.bytes().0 <= 2 * params.mean_pktsize.0 {
            return false;
        }
        if !params.derandomize {
            return self.dice.hits(state.drop_prob);
        }
        if state.drop_prob == Probability::ZERO {
            state.accu_prob = 0;
        }
        state.accu_prob += u128::from(state.drop_prob.raw());
        let one = u128::from(Probability::ONE.raw());
        let hit = 100 * state.accu_prob >= 85 * one
            && (10 * state.accu_prob >= 85 * one || self.dice.hits(state.drop_prob));
        if hit {
            state.accu_prob = 0;
        }
        hit
    }

    /// Section 5.1: marking instead of dropping, while the probability is not too high.
    fn marked(&mut self, packet: &mut Queued) -> bool {
        let may = self.params.mark_ecnth.is_some_and(|most| self.state.drop_prob <= most);
        may && ecn::mark(&mut packet.packet)
    }
}

/// Divisor of alpha and beta: the lower the probability, the smaller the steps.
fn auto_tuning(drop_prob: Probability) -> u64 {
    const STEPS: [(u64, u64); 6] =
        [(1, 2048), (10, 512), (100, 128), (1_000, 32), (10_000, 8), (100_000, 2)];
    let step = STEPS.iter().find(|(ppm, _)| drop_prob < Probability::from_ppm(*ppm));
    step.map_or(1, |&(_, divisor)| divisor)
}

impl Discipline for Pie {
    fn enqueue(&mut self, now: Time, mut packet: Queued, drops: &mut Drops) {
        self.update_until(now);
        self.renew_burst_allowance();
        if !self.params.limits.have_room(self.length(), packet.size()) {
            self.stats.over_limit += 1;
            self.state.accu_prob = 0;
            return drops.push(packet, DropKind::Tail);
        }
        if self.drop_early() {
            if !self.marked(&mut packet) {
                self.stats.drops += 1;
                return drops.push(packet, DropKind::Aqm);
            }
            self.stats.marks += 1;
        }
        self.backlog.push(packet);
    }

    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Queued> {
        self.update_until(now);
        let packet = self.backlog.pop()?;
        self.state.current_qdelay = now.saturating_sub(packet.enqueued);
        Some(packet)
    }

    fn reads_frames(&self) -> bool {
        false
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("drops", self.stats.drops),
            ("marks", self.stats.marks),
            ("over_limit", self.stats.over_limit),
        ]
    }
}

#[cfg(test)]
#[path = "pie_tests.rs"]
mod tests;
