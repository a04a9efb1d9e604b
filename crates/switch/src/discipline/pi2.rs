//! PI2: K. De Schepper, O. Bondarenko, I. Tsang and B. Briscoe, "PI2: A Linearized AQM for both
//! Classic and Scalable TCP", CoNEXT 2016; RFC 9332 builds its coupled queues on it.
//!
//! A proportional-integral controller, without PIE's tuning table, steers a base probability p'
//! that acts linearly on the rate of scalable senders. Classic senders (not ECT, ECT(0)) meet its
//! square, and with `ecn` scalable ones (ECT(1)) are marked with `k` times it, from the one queue
//! that both share. The square is at most `p_cmax`; beyond that a queue grows until it is full,
//! which is the paper's answer to senders that do not respond. Decisions fall on arrival; p' follows
//! the sojourn time of the packet at the head. The rate at which the queue drains is not known here.

use super::probability::{Dice, Probability, proportional_integral};
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, ECN, FULL_FRAME, Kind, LIMIT_BYTES,
    LIMIT_PACKETS, LONGEST, Limits, Parameter, QueueLength, Queued, Registered, SEED, Settings,
};
use crate::ecn;
use sojourn_packet::Time;

const TARGET: Time = Time::from_millis(20);
const T_UPDATE: Time = Time::from_millis(32);
/// 5/16 Hz and 50/16 Hz, in mHz.
const ALPHA: u64 = 312;
const BETA: u64 = 3125;
const K: u64 = 2;
/// 1 / K^2, where a scalable sender's marks reach 100 %.
const P_CMAX: u64 = 250_000;

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "pi2",
    summary: "PI2 (CoNEXT 2016): drops with the square of a PI controller's probability",
    parameters: &[
        Parameter::new("target", Kind::Time, TARGET.0, "queueing delay to settle at"),
        Parameter::new("t_update", Kind::Time, T_UPDATE.0, "time between two updates (T)"),
        Parameter::new("alpha", Kind::Frequency, ALPHA, "integral gain"),
        Parameter::new("beta", Kind::Frequency, BETA, "proportional gain"),
        Parameter::new(
            "k",
            Kind::Number,
            K,
            "coupling: scalable senders are marked with k p' (needs ecn)",
        ),
        Parameter::new("p_cmax", Kind::Share, P_CMAX, "highest drop probability"),
        ECN,
        LIMIT_BYTES,
        LIMIT_PACKETS,
        SEED,
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let params = Params {
        target: settings.time("target")?,
        t_update: settings.within("t_update", 1_000..=LONGEST.0).map(Time)?,
        gains: settings.gains()?,
        k: settings.within("k", 1..=100)?,
        p_cmax: Probability::from_ppm(settings.ppm("p_cmax")?),
        ecn: settings.switch("ecn")?,
        limits: settings.limits()?,
    };
    Ok(Box::new(Pi2::new(params, settings.get("seed").unwrap_or_default())))
}

impl Settings<'_> {
    /// The gains `alpha` and `beta` of a controller.
    pub(super) fn gains(&self) -> Result<(u64, u64), DisciplineError> {
        let gain = |name| self.within(name, 0..=1_000_000_000);
        Ok((gain("alpha")?, gain("beta")?))
    }
}

/// Periodic times, evaluated lazily.
#[derive(Clone, Copy, Debug)]
pub(super) struct Periodic {
    period: Time,
    next: Time,
}

impl Periodic {
    /// The first is one period after time zero.
    pub(super) fn new(period: Time) -> Periodic {
        Periodic { period, next: period }
    }

    /// The next one that has come, once each.
    pub(super) fn due(&mut self, now: Time) -> Option<Time> {
        let at = self.next;
        (at <= now).then(|| {
            self.next += self.period;
            at
        })
    }

    /// Forgets all that have come.
    pub(super) fn skip(&mut self, now: Time) {
        let behind = now.0.saturating_sub(self.next.0) / self.period.0;
        self.next += Time(behind * self.period.0);
        self.due(now);
    }
}

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Queueing delay to settle at. Default 20 ms.
    pub target: Time,
    /// Time between two updates. Default 32 ms.
    pub t_update: Time,
    /// alpha and beta in mHz. Defaults 5/16 and 50/16 Hz (312 and 3125).
    pub gains: (u64, u64),
    /// Coupling factor. Default 2.
    pub k: u64,
    /// Highest drop probability of Classic packets. Default 25 %.
    pub p_cmax: Probability,
    /// Mark instead of dropping. Default: off, which makes everything Classic.
    pub ecn: bool,
    /// Limits of the queue. Default: no limit.
    pub limits: Limits,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            target: TARGET,
            t_update: T_UPDATE,
            gains: (ALPHA, BETA),
            k: K,
            p_cmax: Probability::from_ppm(P_CMAX),
            ecn: false,
            limits: Limits::default(),
        }
    }
}

/// State.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// p': the base probability.
    pub p: Probability,
    /// Queueing delay at the last update.
    pub previous: Time,
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets dropped at random.
    pub drops: u64,
    /// Packets marked, Classic and scalable.
    pub marks: u64,
    /// Packets refused for a limit.
    pub over_limit: u64,
}

/// A queue managed by PI2.
#[derive(Debug)]
pub struct Pi2 {
    params: Params,
    state: State,
    stats: Stats,
    update: Periodic,
    dice: Dice,
    backlog: Backlog,
}

impl Pi2 {
    /// An empty queue; the first update is one period after time zero.
    pub fn new(params: Params, seed: u64) -> Pi2 {
        Pi2 {
            params,
            state: State::default(),
            stats: Stats::default(),
            update: Periodic::new(params.t_update),
            dice: Dice::new(seed),
            backlog: Backlog::default(),
        }
    }

    fn update_until(&mut self, now: Time) {
        while let Some(at) = self.update.due(now) {
            let head = self.backlog.front().map_or(at, |packet| packet.enqueued);
            let delay = at.saturating_sub(head);
            let (target, previous) = (self.params.target.0, self.state.previous.0);
            let change = proportional_integral(self.params.gains, target, previous, delay.0);
            self.state.p = self.state.p.changed(change, Probability::ONE);
            self.state.previous = delay;
            if delay == Time::ZERO && self.state == State::default() {
                self.update.skip(now);
            }
        }
    }

    /// Whether congestion is to be signalled by this packet. The square is thrown as two dice that
    /// must both hit, as the paper does it.
    fn signals(&mut self, codepoint: u8) -> bool {
        let p = self.state.p;
        if self.backlog.bytes().0 <= 2 * FULL_FRAME.0 {
            // The link would be left idle.
            return false;
        }
        if self.params.ecn && codepoint == ecn::ECT_1 {
            return self.dice.hits(p.times(self.params.k));
        }
        if p.and(p) > self.params.p_cmax {
            return self.dice.hits(self.params.p_cmax);
        }
        let both = [self.dice.throw(), self.dice.throw()];
        both.iter().all(|&thrown| thrown < p.raw())
    }
}

impl Discipline for Pi2 {
    fn enqueue(&mut self, now: Time, mut packet: Queued, drops: &mut Drops) {
        self.update_until(now);
        if !self.params.limits.have_room(self.length(), packet.size()) {
            self.stats.over_limit += 1;
            return drops.push(packet, DropKind::Tail);
        }
        if self.signals(ecn::codepoint(&packet.packet)) {
            if !(self.params.ecn && ecn::mark(&mut packet.packet)) {
                self.stats.drops += 1;
                return drops.push(packet, DropKind::Aqm);
            }
            self.stats.marks += 1;
        }
        self.backlog.push(packet);
    }

    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Queued> {
        self.update_until(now);
        self.backlog.pop()
    }

    fn reads_frames(&self) -> bool {
        false
    }

    fn marks(&self) -> bool {
        self.params.ecn
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
#[path = "pi2_tests.rs"]
mod tests;
