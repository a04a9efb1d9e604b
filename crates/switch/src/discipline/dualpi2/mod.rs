//! DualPI2, RFC 9332 appendix A: two queues, one for L4S traffic and one for Classic, coupled so that flows of either
//! share the link evenly while L4S packets hardly wait.
//!
//! - Classifier (section 2.3): ECT(1) and CE are L4S; by option ECT(0) too, or a DSCP whatever the ECN field says.
//! - A PI2 controller at the Classic queue. Its base probability also marks in the L4S queue, times `k`; there also a
//!   ramp on the queue's own delay, or a step if `range` is 0 (appendices A.1 and A.2).
//! - Overload (section 4.2.3): once the coupled probability saturates, either L4S packets are dropped as Classic ones are
//!   and ECN is ignored, or the base probability stops at `1/k` and delay grows up to the limit.
//! - Scheduler (section 4.2.2): time-shifted FIFO as in the appendix's listing, or weighted round robin with credit.
//!
//! Signals are spread evenly by counting up (`recur`), or drawn at random with `random`. `dualpi2_linux` is the same with
//! the defaults of Linux's `sch_dualpi2`, which draws. The module must not know the rate at which it drains.

mod scheduler;

pub use scheduler::Scheduler;
use scheduler::{Credit, Turn};

use super::pi2::Periodic;
use super::probability::{Dice, Probability, proportional_integral};
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, FULL_FRAME, Kind, LIMIT_BYTES,
    LIMIT_PACKETS, LONGEST, Limits, Parameter, QueueLength, Queued, Registered, SEED, Settings,
};
use crate::ecn;
use sojourn_packet::{Bytes, Packet, Time};

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

const LINUX_T_UPDATE: Time = Time::from_millis(16);
/// 41/256 and 819/256 Hz, in mHz.
const LINUX_ALPHA: u64 = 160;
const LINUX_BETA: u64 = 3199;
const LINUX_STEP: Time = Time::from_millis(1);
const LINUX_CLASSIC_PROTECTION_PPM: u64 = 100_000;
const LINUX_LIMIT_PACKETS: u64 = 10_000;
const LINUX_MIN_BACKLOG: Bytes = Bytes(2 * FULL_FRAME.0);

const fn parameters(
    [t_update, min_th, range]: [Time; 3],
    (alpha, beta): (u64, u64),
    min_backlog: Bytes,
    [th_len, classic_protection, limit_packets, random]: [Parameter; 4],
) -> [Parameter; 18] {
    [
        Parameter::new("target", Kind::Time, TARGET.0, "Classic queueing delay to settle at"),
        Parameter::new("t_update", Kind::Time, t_update.0, "time between two updates (Tupdate)"),
        Parameter::new("alpha", Kind::Frequency, alpha, "integral gain"),
        Parameter::new("beta", Kind::Frequency, beta, "proportional gain"),
        Parameter::new("k", Kind::Number, K, "coupling factor"),
        Parameter::new(
            "min_th",
            Kind::Time,
            min_th.0,
            "L4S delay from which its own marks begin (minTh)",
        ),
        Parameter::new(
            "range",
            Kind::Time,
            range.0,
            "from minTh to marking everything; 0 is a step",
        ),
        th_len,
        Parameter::new(
            "tshift",
            Kind::Time,
            TSHIFT.0,
            "head start of the L4S queue, without classic_protection",
        ),
        classic_protection,
        Parameter::new(
            "drop_on_overload",
            Kind::Flag,
            1,
            "0: L4S packets are never dropped, delay grows instead",
        ),
        Parameter::new(
            "min_backlog",
            Kind::Size,
            min_backlog.0,
            "no signal of the controller below this backlog",
        ),
        Parameter::new("any_ect", Kind::Flag, 0, "ECT(0) is L4S, too"),
        Parameter::off(
            "l4s_dscp",
            Kind::Number,
            "DSCP whose packets go to the L4S queue whatever their ECN field",
        ),
        LIMIT_BYTES,
        limit_packets,
        random,
        SEED,
    ]
}

const TH_LEN_SUMMARY: &str = "no such marks up to this L4S queue (Th_len)";
const CLASSIC_PROTECTION_SUMMARY: &str =
    "Classic's share while both queues wait (weighted round robin); without it, time-shifted FIFO";

const RANDOM_SUMMARY: &str = "draw each signal; 0 spreads signals evenly by counting";

const RFC_PARAMETERS: [Parameter; 18] = parameters(
    [T_UPDATE, MIN_TH, RANGE],
    (ALPHA, BETA),
    Bytes(0),
    [
        Parameter::new("th_len", Kind::Packets, TH_LEN, TH_LEN_SUMMARY),
        Parameter::off("classic_protection", Kind::Share, CLASSIC_PROTECTION_SUMMARY),
        LIMIT_PACKETS,
        Parameter::new("random", Kind::Flag, 0, RANDOM_SUMMARY),
    ],
);

const LINUX_PARAMETERS: [Parameter; 18] = parameters(
    [LINUX_T_UPDATE, LINUX_STEP, Time::ZERO],
    (LINUX_ALPHA, LINUX_BETA),
    LINUX_MIN_BACKLOG,
    [
        Parameter::off("th_len", Kind::Packets, TH_LEN_SUMMARY),
        Parameter::new(
            "classic_protection",
            Kind::Share,
            LINUX_CLASSIC_PROTECTION_PPM,
            CLASSIC_PROTECTION_SUMMARY,
        ),
        Parameter::new("limit_packets", Kind::Packets, LINUX_LIMIT_PACKETS, "most packets held"),
        Parameter::new("random", Kind::Flag, 1, RANDOM_SUMMARY),
    ],
);

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "dualpi2",
    summary: "RFC 9332 DualPI2: a queue for L4S and one for Classic traffic, coupled by PI2",
    parameters: &RFC_PARAMETERS,
    build,
};

/// The same with Linux's defaults: weighted round robin, a step at 1 ms, signals drawn at random.
pub const LINUX_REGISTRATION: Registered = Registered {
    name: "dualpi2_linux",
    summary: "DualPI2 with the defaults of Linux: weighted round robin, a step at 1 ms",
    parameters: &LINUX_PARAMETERS,
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let span = |name| settings.within(name, 0..=LONGEST.0).map(Time);
    let classic_share = settings.optional("classic_protection", 1..=500_000)?;
    Ok(Box::new(DualPi2::new(Params {
        target: settings.time("target")?,
        t_update: settings.within("t_update", 1_000..=LONGEST.0).map(Time)?,
        gains: settings.gains()?,
        k: settings.within("k", 1..=100)?,
        min_th: span("min_th")?,
        range: span("range")?,
        th_len: settings.optional("th_len", 0..=1_000_000)?.map(|packets| packets as usize),
        scheduler: classic_share
            .map_or(Scheduler::TimeShifted(span("tshift")?), Scheduler::Weighted),
        drop_on_overload: settings.switch("drop_on_overload")?,
        min_backlog: settings.within("min_backlog", 0..=1 << 40).map(Bytes)?,
        any_ect: settings.switch("any_ect")?,
        l4s_dscp: settings.optional("l4s_dscp", 0..=63)?.map(|dscp| dscp as u8),
        limits: settings.limits()?,
        random: settings.switch("random")?.then(|| settings.get("seed").unwrap_or_default()),
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
    /// Th_len: with no more L4S packets than this waiting behind, the ramp is not used. Default 1; without it, the
    /// ramp is always used.
    pub th_len: Option<usize>,
    /// Default: time-shifted FIFO with 50 ms.
    pub scheduler: Scheduler,
    /// Drop L4S packets as Classic ones while the coupled probability is saturated (section 4.2.3); otherwise the
    /// base probability stops at `1/k`. Default: on.
    pub drop_on_overload: bool,
    /// No signal of the controller while less than this is left in both queues together. Default 0.
    pub min_backlog: Bytes,
    /// ECT(0) is L4S, too. Default: off.
    pub any_ect: bool,
    /// DSCP whose packets go to the L4S queue whatever their ECN field (section 2.5.1.1). Default: none.
    pub l4s_dscp: Option<u8>,
    /// Capacity of both queues together; the RFC has 250 ms at the highest rate. Default: no
    /// limit but the packet buffer's.
    pub limits: Limits,
    /// Seed, if each signal is drawn. Default: none, signals are counted.
    pub random: Option<u64>,
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
            th_len: Some(TH_LEN as usize),
            scheduler: Scheduler::TimeShifted(TSHIFT),
            drop_on_overload: true,
            min_backlog: Bytes(0),
            any_ect: false,
            l4s_dscp: None,
            limits: Limits::default(),
            random: None,
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
    /// Sum of likelihoods since the last signal in the L4S queue.
    pub l_count: Recurrence,
    /// The same in the Classic queue.
    pub c_count: Recurrence,
}

/// Spreads signals evenly: a likelihood is added for each packet, and what exceeds one makes a
/// signal (`recur` of the RFC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recurrence(u64);

/// Random numbers for one packet.
#[derive(Clone, Copy, Debug)]
struct Thrown([u64; 2]);

impl Recurrence {
    /// Signals with a probability: by its random number, or by counting.
    fn linear(&mut self, p: Probability, thrown: Option<Thrown>) -> bool {
        thrown.map_or_else(|| self.recur(p), |Thrown([one, _])| p.exceeds(one))
    }

    /// Signals with the square of a probability: if it exceeds both random numbers, or by counting.
    fn square(&mut self, p: Probability, thrown: Option<Thrown>) -> bool {
        let both = |Thrown([one, other])| p.exceeds(one) && p.exceeds(other);
        thrown.map_or_else(|| self.recur(p.and(p)), both)
    }

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
    dice: Option<Dice>,
    credit: Credit,
    lq: Backlog,
    cq: Backlog,
}

/// Decision about the packet at a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    None,
    Mark,
    Drop,
}

/// Time that the packet at the head has waited; none for an empty queue.
fn head_delay(queue: &Backlog, now: Time) -> Option<Time> {
    Some(now.saturating_sub(queue.front()?.enqueued))
}

impl Params {
    /// Largest base probability: where delay is to grow in overload, the coupled probability must not saturate
    /// beyond one.
    fn highest(&self) -> Probability {
        match self.drop_on_overload {
            true => Probability::ONE,
            false => Probability::from_ratio(1, self.k.into()),
        }
    }

    /// True for a packet whose sender answers each mark by little: ECT(1), CE, and ECT(0) by option.
    fn is_scalable(&self, packet: &Packet) -> bool {
        // ECT(1) and CE have the last bit set.
        let codepoint = ecn::codepoint(packet);
        codepoint & 1 == 1 || self.any_ect && codepoint != ecn::NOT_ECT
    }

    /// True for a packet that belongs to the L4S queue.
    fn is_l4s(&self, packet: &Packet) -> bool {
        self.is_scalable(packet)
            || self.l4s_dscp.is_some_and(|dscp| ecn::dscp(packet) == Some(dscp))
    }

    /// Credit of Classic while nothing waits.
    fn idle_credit(&self) -> Credit {
        match self.scheduler {
            Scheduler::Weighted(classic_ppm) => Credit::idle(classic_ppm, FULL_FRAME),
            Scheduler::TimeShifted(_) => Credit::idle(0, FULL_FRAME),
        }
    }
}

impl DualPi2 {
    /// Empty queues; the first update is one Tupdate after time zero.
    pub fn new(params: Params) -> DualPi2 {
        DualPi2 {
            params,
            state: State::default(),
            stats: Stats::default(),
            update: Periodic::new(params.t_update),
            dice: params.random.map(Dice::new),
            credit: params.idle_credit(),
            lq: Backlog::default(),
            cq: Backlog::default(),
        }
    }

    /// State of the controller.
    pub fn state(&self) -> State {
        self.state
    }

    /// Figure 6, with the delay of the L4S queue taken in for overload: whichever head has waited
    /// longer.
    fn update_until(&mut self, now: Time) {
        while let Some(at) = self.update.due(now) {
            let delay = head_delay(&self.cq, at).max(head_delay(&self.lq, at));
            let delay = delay.unwrap_or(Time::ZERO);
            let (target, previous) = (self.params.target.0, self.state.previous.0);
            let change = proportional_integral(self.params.gains, target, previous, delay.0);
            self.state.p = self.state.p.changed(change, self.params.highest());
            self.state.previous = delay;
            if delay == Time::ZERO && self.state.p == Probability::ZERO {
                self.update.skip(now);
            }
        }
    }

    /// Queue that is served next; none if both are empty.
    fn turn(&self, now: Time) -> Option<Turn> {
        let (l, c) = (head_delay(&self.lq, now), head_delay(&self.cq, now));
        let classic_first = match (l, c, self.params.scheduler) {
            (None, None, _) => return None,
            (Some(l), Some(c), Scheduler::TimeShifted(head_start)) => l + head_start < c,
            (Some(_), Some(_), Scheduler::Weighted(_)) => self.credit.favours_classic(),
            (l, _, _) => l.is_none(),
        };
        Some(if classic_first { Turn::Classic } else { Turn::L4s })
    }

    /// Accounts for a packet that leaves.
    fn charge(&mut self, turn: Turn, size: Bytes) {
        let rival = if turn == Turn::L4s { &self.cq } else { &self.lq };
        if let (false, Scheduler::Weighted(share)) = (rival.is_empty(), self.params.scheduler) {
            self.credit.charge(share, turn, size);
        }
    }

    /// Native L4S AQM, figure 5: a ramp on the queue's delay. A step, where both thresholds are one,
    /// marks from the threshold on, because the upper one is compared first.
    fn laqm(&self, delay: Time) -> Probability {
        let Params { min_th, range, .. } = self.params;
        let too_short = self.params.th_len.is_some_and(|most| self.lq.len() <= most);
        if too_short || delay < min_th {
            return Probability::ZERO;
        }
        Probability::from_ratio((delay - min_th).0.into(), range.0.into())
    }

    /// Base probability, zero while too little is left behind the packet that leaves.
    fn base(&self) -> Probability {
        let waiting = self.lq.bytes() + self.cq.bytes();
        if waiting < self.params.min_backlog { Probability::ZERO } else { self.state.p }
    }

    /// Two random numbers for the next packet, however many its signal takes; none if signals are counted.
    fn throw(&mut self) -> Option<Thrown> {
        self.dice.as_mut().map(|dice| Thrown([dice.throw(), dice.throw()]))
    }

    /// Signal for a packet that has just left the L4S queue. A packet that was steered there and whose sender is not
    /// scalable is signalled as in the Classic queue (section 2.5.1.1).
    fn l4s_signal(&mut self, delay: Time, packet: &Packet) -> Signal {
        if !self.params.is_scalable(packet) {
            return self.classic_signal(packet);
        }
        let thrown = self.throw();
        let base = self.base();
        let p_cl = base.times(self.params.k);
        if p_cl < Probability::ONE || !self.params.drop_on_overload {
            let p_l = self.laqm(delay).max(p_cl);
            let marked = self.state.l_count.linear(p_l, thrown);
            return if marked { Signal::Mark } else { Signal::None };
        }
        // Overload: the coupled probability is saturated, so L4S packets are dropped as often as
        // Classic ones and marked otherwise.
        if self.state.l_count.square(base, thrown) { Signal::Drop } else { Signal::Mark }
    }

    /// Signal for a packet that has just left the Classic queue.
    fn classic_signal(&mut self, packet: &Packet) -> Signal {
        let (base, thrown) = (self.base(), self.throw());
        if !self.state.c_count.square(base, thrown) {
            return Signal::None;
        }
        // p_C >= p_Cmax = 1/k^2 is the same as k p' >= 1.
        let overload =
            self.params.drop_on_overload && base.times(self.params.k) == Probability::ONE;
        if ecn::codepoint(packet) == ecn::NOT_ECT || overload { Signal::Drop } else { Signal::Mark }
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
        if self.lq.is_empty() && self.cq.is_empty() {
            self.credit = self.params.idle_credit();
        }
        let queue = if self.params.is_l4s(&packet.packet) { &mut self.lq } else { &mut self.cq };
        queue.push(packet);
    }

    /// Figures 4 and 7.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        self.update_until(now);
        loop {
            let turn = self.turn(now)?;
            let l4s = turn == Turn::L4s;
            let mut packet = if l4s { self.lq.pop() } else { self.cq.pop() }?;
            let size = packet.size();
            let signal = if l4s {
                self.l4s_signal(now.saturating_sub(packet.enqueued), &packet.packet)
            } else {
                self.classic_signal(&packet.packet)
            };
            let Stats { l_marks, l_drops, c_marks, c_drops, .. } = &mut self.stats;
            let (marks, dropped) = if l4s { (l_marks, l_drops) } else { (c_marks, c_drops) };
            if signal == Signal::Drop {
                *dropped += 1;
                drops.push(packet, DropKind::Aqm);
                continue;
            }
            if signal == Signal::Mark {
                *marks += u64::from(ecn::mark(&mut packet.packet));
            }
            self.charge(turn, size);
            return Some(packet);
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
mod tests;
