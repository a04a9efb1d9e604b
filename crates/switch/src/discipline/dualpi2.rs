//! DualPI2, RFC 9332 appendix A: two queues, one for L4S traffic and one for Classic, coupled so
//! that flows of either share the link evenly while L4S packets hardly wait.
//!
//! Classification by the ECN field (section 2.3: ECT(1) and CE are L4S), a PI2 controller at the
//! Classic queue, whose base probability also marks in the L4S queue, times `k`; there also a ramp
//! on the queue's own delay, or a step if `range` is 0 (appendices A.1 and A.2, with the handling of
//! overload: once the coupled probability saturates, L4S packets are dropped as Classic ones are and
//! ECN is ignored). The scheduler is the time-shifted FIFO of section 4.2.2: the L4S queue's head is
//! served as if it had come `tshift` earlier. Signals are spread by counting up (`recur`), not
//! thrown, so nothing here is random. It must not know the rate at which it drains.

use super::pi2::Periodic;
use super::probability::{Probability, proportional_integral};
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, FULL_FRAME, Kind, LIMIT_BYTES,
    LIMIT_PACKETS, LONGEST, Limits, Parameter, QueueLength, Queued, Registered, Settings,
};
use crate::ecn;
use sojourn_packet::Time;

const TARGET: Time = Time::from_millis(15);
const T_UPDATE: Time = Time::from_millis(15);
/// 0.1 Tupdate / RTT_max^2 and 0.3 / RTT_max for an RTT_max of 100 ms: 0.15 Hz and 3 Hz, in mHz.
const ALPHA: u64 = 150;
const BETA: u64 = 3000;
const K: u64 = 2;
const MIN_TH: Time = Time::from_micros(800);
const RANGE: Time = Time::from_micros(400);
const TH_LEN: u64 = 1;
const TSHIFT: Time = Time::from_millis(50);

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "dualpi2",
    summary: "RFC 9332 DualPI2: a queue for L4S and one for Classic traffic, coupled by PI2",
    parameters: &[
        Parameter::new("target", Kind::Time, TARGET.0, "Classic queueing delay to settle at"),
        Parameter::new("t_update", Kind::Time, T_UPDATE.0, "time between two updates (Tupdate)"),
        Parameter::new("alpha", Kind::Frequency, ALPHA, "integral gain"),
        Parameter::new("beta", Kind::Frequency, BETA, "proportional gain"),
        Parameter::new("k", Kind::Number, K, "coupling factor"),
        Parameter::new(
            "min_th",
            Kind::Time,
            MIN_TH.0,
            "L4S delay from which its own marks begin (minTh)",
        ),
        Parameter::new(
            "range",
            Kind::Time,
            RANGE.0,
            "from minTh to marking everything; 0 is a step",
        ),
        Parameter::new(
            "th_len",
            Kind::Packets,
            TH_LEN,
            "no such marks up to this L4S queue (Th_len)",
        ),
        Parameter::new("tshift", Kind::Time, TSHIFT.0, "head start of the L4S queue"),
        LIMIT_BYTES,
        LIMIT_PACKETS,
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let span = |name| settings.within(name, 0..=LONGEST.0).map(Time);
    Ok(Box::new(DualPi2::new(Params {
        target: settings.time("target")?,
        t_update: settings.within("t_update", 1_000..=LONGEST.0).map(Time)?,
        gains: settings.gains()?,
        k: settings.within("k", 1..=100)?,
        min_th: span("min_th")?,
        range: span("range")?,
        th_len: settings.within("th_len", 0..=1_000_000)? as usize,
        tshift: span("tshift")?,
        limits: settings.limits()?,
    })))
}

/// Parameters (RFC 9332 figure 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Classic queueing delay to settle at. Default 15 ms.
    pub target: Time,
    /// Tupdate: time between two updates. Default 15 ms.
    pub t_update: Time,
    /// alpha and beta in mHz. Defaults 150 (0.15 Hz) and 3000 (3 Hz).
    pub gains: (u64, u64),
    /// Coupling factor. Default 2.
    pub k: u64,
    /// minTh: L4S queueing delay from which the ramp rises. Default 800 us.
    pub min_th: Time,
    /// Width of the ramp; zero makes a step at `min_th`. Default 400 us.
    pub range: Time,
    /// Th_len: with no more L4S packets than this waiting behind, the ramp is not used. Default 1.
    pub th_len: usize,
    /// Head start of the L4S queue. Default 50 ms.
    pub tshift: Time,
    /// How much both queues together hold; the RFC has 250 ms at the highest rate. Default: no
    /// limit but the packet buffer's.
    pub limits: Limits,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            target: TARGET,
            t_update: T_UPDATE,
            gains: (ALPHA, BETA),
            k: K,
            min_th: MIN_TH,
            range: RANGE,
            th_len: TH_LEN as usize,
            tshift: TSHIFT,
            limits: Limits::default(),
        }
    }
}

/// State of the controller, and of the signals of each queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// p': the base probability.
    pub p: Probability,
    /// prevq: queueing delay at the last update.
    pub previous: Time,
    /// What has been counted up to the next signal in the L4S queue.
    pub l_count: Recurrence,
    /// The same in the Classic queue.
    pub c_count: Recurrence,
}

/// Spreads signals evenly: a likelihood is added for each packet, and what exceeds one makes a
/// signal (`recur` of the RFC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recurrence(u64);

impl Recurrence {
    fn recur(&mut self, likelihood: Probability) -> bool {
        self.0 += likelihood.raw();
        let signal = self.0 > Probability::ONE.raw();
        if signal {
            self.0 -= Probability::ONE.raw();
        }
        signal
    }
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// L4S packets marked.
    pub l_marks: u64,
    /// L4S packets dropped in overload.
    pub l_drops: u64,
    /// Classic packets marked.
    pub c_marks: u64,
    /// Classic packets dropped.
    pub c_drops: u64,
    /// Packets refused for a limit.
    pub over_limit: u64,
}

/// Two coupled queues.
#[derive(Debug)]
pub struct DualPi2 {
    params: Params,
    state: State,
    stats: Stats,
    update: Periodic,
    lq: Backlog,
    cq: Backlog,
}

/// What a queue does with the packet at its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    None,
    Mark,
    Drop,
}

/// How long the packet at the head has waited; none for an empty queue.
fn head_delay(queue: &Backlog, now: Time) -> Option<Time> {
    Some(now.saturating_sub(queue.front()?.enqueued))
}

impl DualPi2 {
    /// Empty queues; the first update is one Tupdate after time zero.
    pub fn new(params: Params) -> DualPi2 {
        DualPi2 {
            params,
            state: State::default(),
            stats: Stats::default(),
            update: Periodic::new(params.t_update),
            lq: Backlog::default(),
            cq: Backlog::default(),
        }
    }

    /// Figure 6, with the delay of the L4S queue taken in for overload: whichever head has waited
    /// longer.
    fn update_until(&mut self, now: Time) {
        while let Some(at) = self.update.due(now) {
            let delay = head_delay(&self.cq, at).max(head_delay(&self.lq, at));
            let delay = delay.unwrap_or(Time::ZERO);
            let (target, previous) = (self.params.target.0, self.state.previous.0);
            let change = proportional_integral(self.params.gains, target, previous, delay.0);
            self.state.p = self.state.p.changed(change, Probability::ONE);
            self.state.previous = delay;
            if delay == Time::ZERO && self.state.p == Probability::ZERO {
                self.update.skip(now);
            }
        }
    }

    /// Time-shifted FIFO: true if the L4S queue is next.
    fn l4s_is_next(&self, now: Time) -> bool {
        match (head_delay(&self.lq, now), head_delay(&self.cq, now)) {
            (Some(l), Some(c)) => l + self.params.tshift >= c,
            (l, _) => l.is_some(),
        }
    }

    /// The native L4S AQM, figure 5: a ramp on the queue's delay. A step, where both thresholds are one,
    /// marks from the threshold on, because the upper one is looked at first.
    fn laqm(&self, delay: Time) -> Probability {
        let Params { min_th, range, .. } = self.params;
        if self.lq.len() <= self.params.th_len || delay < min_th {
            return Probability::ZERO;
        }
        Probability::from_ratio((delay - min_th).0.into(), range.0.into())
    }

    /// For a packet that has just left the L4S queue.
    fn l4s_signal(&mut self, delay: Time) -> Signal {
        let p_cl = self.state.p.times(self.params.k);
        if p_cl < Probability::ONE {
            let p_l = self.laqm(delay).max(p_cl);
            return if self.state.l_count.recur(p_l) { Signal::Mark } else { Signal::None };
        }
        // Overload: the coupled probability is saturated, so L4S packets are dropped as often as
        // Classic ones and marked otherwise.
        if self.state.l_count.recur(self.state.p.and(self.state.p)) {
            Signal::Drop
        } else {
            Signal::Mark
        }
    }

    /// For a packet that has just left the Classic queue.
    fn classic_signal(&mut self, codepoint: u8) -> Signal {
        if !self.state.c_count.recur(self.state.p.and(self.state.p)) {
            return Signal::None;
        }
        // p_C >= p_Cmax = 1/k^2 is the same as k p' >= 1.
        let overload = self.state.p.times(self.params.k) == Probability::ONE;
        if codepoint == ecn::NOT_ECT || overload { Signal::Drop } else { Signal::Mark }
    }
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, now: Time, packet: Queued, drops: &mut Drops) {
        self.update_until(now);
        // Figure 3 asks for the room of a full packet, so that large ones are not worse off.
        if !self.params.limits.have_room(self.length(), packet.size().max(FULL_FRAME)) {
            self.stats.over_limit += 1;
            return drops.push(packet, DropKind::Tail);
        }
        // ECT(1) and CE have the last bit set.
        if ecn::codepoint(&packet.packet) & 1 == 1 {
            self.lq.push(packet);
        } else {
            self.cq.push(packet);
        }
    }

    /// Figures 4 and 7.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        self.update_until(now);
        loop {
            let l4s = self.l4s_is_next(now);
            let mut packet = if l4s { self.lq.pop() } else { self.cq.pop() }?;
            let signal = if l4s {
                self.l4s_signal(now.saturating_sub(packet.enqueued))
            } else {
                self.classic_signal(ecn::codepoint(&packet.packet))
            };
            let Stats { l_marks, l_drops, c_marks, c_drops, .. } = &mut self.stats;
            let (marks, dropped) = if l4s { (l_marks, l_drops) } else { (c_marks, c_drops) };
            match signal {
                Signal::Drop => {
                    *dropped += 1;
                    drops.push(packet, DropKind::Aqm);
                }
                Signal::Mark => {
                    *marks += u64::from(ecn::mark(&mut packet.packet));
                    return Some(packet);
                }
                Signal::None => return Some(packet),
            }
        }
    }

    fn reads_frames(&self) -> bool {
        false
    }

    fn length(&self) -> QueueLength {
        let (lq, cq) = (self.lq.length(), self.cq.length());
        QueueLength { packets: lq.packets + cq.packets, bytes: lq.bytes + cq.bytes }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("l_marks", self.stats.l_marks),
            ("l_drops", self.stats.l_drops),
            ("c_marks", self.stats.c_marks),
            ("c_drops", self.stats.c_drops),
            ("over_limit", self.stats.over_limit),
        ]
    }
}

#[cfg(test)]
#[path = "dualpi2_tests.rs"]
mod tests;
