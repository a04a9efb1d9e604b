//! COBALT: CoDel and BLUE in parallel, as CAKE of Linux 6.1 has it (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE",
//! LANMAN 2018, section III-B; `net/sched/sch_cake.c`).
//!
//! - CoDel signals while the sojourn time is above `target`, at intervals of `interval / sqrt(count)`; below it, `count`
//!   falls by one at each instant at which a signal would have been due.
//! - `1/sqrt(count)` has 32 bits: four Newton steps from its predecessor for counts below 16, one step above. It is 0 in
//!   a new queue, so its first signal goes to the second packet above target, without an interval.
//! - BLUE drops with a probability that grows by 1/256 when the queue overflows and falls by 1/4096 when it is found
//!   empty, at most once in a `target` each. It ignores ECN.
//! - The last packet of a queue may be marked and is never dropped.
//!
//! [`State`] is one queue's, so that [`super::cake`] has one for each flow; the discipline `cobalt` is one queue with it.
//! It must not know how packets are distributed over queues.

use super::codel::{INTERVAL_PARAMETER, TARGET_PARAMETER};
use super::probability::Dice;
use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, FULL_FRAME, Kind, Parameter,
    QueueLength, Queued, Registered, SEED, Settings,
};
use crate::ecn;
use sojourn_packet::{Bytes, Time};
use std::ops::RangeInclusive;

/// Bytes that the kernel's qdisc holds without a limit of its own: 10240 full frames.
pub(super) const MEMLIMIT: u64 = 10_240 * FULL_FRAME.0;
/// ns that an interval may be: the kernel scales it in 32 bits.
pub(super) const SPAN: RangeInclusive<u64> = 1_000..=u32::MAX as u64;
/// The limit of both disciplines.
pub(super) const MEMLIMIT_PARAMETER: Parameter = Parameter::new(
    "memlimit",
    Kind::Size,
    MEMLIMIT,
    "most bytes held; more are dropped from the head of the longest queue",
);

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "cobalt",
    summary: "COBALT, the AQM of CAKE: CoDel that decays step by step, and BLUE for overload",
    parameters: &[TARGET_PARAMETER, INTERVAL_PARAMETER, MEMLIMIT_PARAMETER, SEED],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let params = Params {
        target: settings.within("target", SPAN)?,
        interval: settings.within("interval", SPAN)?,
    };
    let memlimit = Bytes(settings.within("memlimit", 1..=u64::MAX)?);
    let seed = settings.get("seed").unwrap_or_default();
    Ok(Box::new(Cobalt::new(params, memlimit, seed)))
}

/// Growth of BLUE's probability, in 2^-32: 1/256.
const P_INC: u32 = 1 << 24;
/// Its decrease: 1/4096.
const P_DEC: u32 = 1 << 20;

/// Parameters, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Sojourn time that a standing queue may have, and the least time between two changes of BLUE.
    pub target: u64,
    /// Time above target before a signal, below 2^32.
    pub interval: u64,
}

/// One step of Newton's iteration x' = x (3 - count x^2) / 2 for x = 1 / sqrt(count), in 2^-32.
const fn newton_step(count: u32, x: u32) -> u32 {
    let x = x as u64;
    // A count that x is far too large for makes the kernel's difference wrap, and so this one.
    let bracket = (3u64 << 32).wrapping_sub((count as u64).wrapping_mul((x * x) >> 32));
    // Two bits are given up before the product so that it fits.
    ((bracket >> 2).wrapping_mul(x) >> 31) as u32
}

/// 1 / sqrt(count) for small counts, each by four steps from its predecessor.
const INVERSE_ROOTS: [u32; 16] = {
    let mut roots = [u32::MAX; 16];
    let (mut count, mut x) = (1, u32::MAX);
    while count < roots.len() {
        let mut step = 0;
        while step < 4 {
            x = newton_step(count as u32, x);
            step += 1;
        }
        roots[count] = x;
        count += 1;
    }
    roots
};

/// State of one queue, names as in the kernel; times in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Signals since CoDel was at rest, less those that its decay has taken back.
    pub count: u32,
    /// 1 / sqrt(count), in 2^-32.
    pub rec_inv_sqrt: u32,
    /// Time of the next signal; at rest, the time until which the queue counts as active.
    pub drop_next: u64,
    /// Last change of `p_drop`.
    pub blue_timer: u64,
    /// BLUE's probability, in 2^-32.
    pub p_drop: u32,
    /// The sojourn time is above target.
    pub dropping: bool,
}

impl State {
    fn root(&mut self) {
        self.rec_inv_sqrt = match INVERSE_ROOTS.get(self.count as usize) {
            Some(root) => *root,
            None => newton_step(self.count, self.rec_inv_sqrt),
        };
    }

    /// `from` plus an interval divided by the square root of `count`.
    fn control(&self, from: u64, params: &Params) -> u64 {
        from + ((params.interval * u64::from(self.rec_inv_sqrt)) >> 32)
    }

    /// Another count, and the time of the signal after the one that was due.
    fn step(&mut self, count: u32, params: &Params) {
        self.count = count;
        self.root();
        self.drop_next = self.control(self.drop_next, params);
    }

    /// Takes notice of a packet that was dropped because there was no room.
    pub fn queue_full(&mut self, params: &Params, now: Time) {
        if now.0 - self.blue_timer > params.target {
            self.p_drop = self.p_drop.saturating_add(P_INC);
            self.blue_timer = now.0;
        }
        self.dropping = true;
        self.drop_next = now.0;
        self.count = self.count.max(1);
    }

    /// Takes notice of a queue that was to send a packet and had none.
    pub fn queue_empty(&mut self, params: &Params, now: Time) {
        if self.p_drop > 0 && now.0 - self.blue_timer > params.target {
            self.p_drop = self.p_drop.saturating_sub(P_DEC);
            self.blue_timer = now.0;
        }
        self.dropping = false;
        if self.count > 0 && now.0 >= self.drop_next {
            self.step(self.count - 1, params);
        }
    }

    /// Whether there is nothing left to decay.
    pub fn is_at_rest(&self, now: Time) -> bool {
        self.p_drop == 0 && self.count == 0 && now.0 >= self.drop_next
    }

    /// Decides about a packet that was taken from the queue; marks it if that is enough.
    pub(super) fn signal(
        &mut self,
        params: &Params,
        now: Time,
        packet: &mut Queued,
        dice: &mut Dice,
    ) -> Signal {
        let above = now.0.saturating_sub(packet.enqueued.0) > params.target;
        let due = self.count > 0 && now.0 >= self.drop_next;
        let mut late = now.0 > self.drop_next;
        if above && !self.dropping {
            self.drop_next = self.control(now.0, params);
        }
        if above {
            self.count = self.count.max(1);
        }
        self.dropping = above;
        let mut signal = Signal::default();
        if due && above {
            signal.marked = ecn::mark(&mut packet.packet);
            signal.drop = !signal.marked;
            self.step(self.count.saturating_add(1), params);
            late = now.0 > self.drop_next;
        } else if due {
            late = self.decay(params, now);
        }
        if self.p_drop > 0 {
            signal.drop |= dice.bits(32) < u64::from(self.p_drop);
        }
        if self.count == 0 {
            self.drop_next = now.0 + params.interval;
        } else if late && !signal.drop {
            self.drop_next = now.0;
        }
        signal
    }

    /// Below target: takes back a signal for each that would have been due. True if the next one would be late.
    fn decay(&mut self, params: &Params, now: Time) -> bool {
        while self.count > 0 && now.0 >= self.drop_next {
            self.step(self.count - 1, params);
        }
        now.0 > self.drop_next
    }
}

/// Decision about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signal {
    /// It is to be dropped, unless it is the last one.
    pub drop: bool,
    /// CoDel has marked it.
    pub marked: bool,
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets dropped by CoDel or BLUE.
    pub drops: u64,
    /// Packets marked and sent.
    pub marks: u64,
    /// Packets dropped because the queue was full.
    pub drop_overlimit: u64,
}

/// The packet to send of a queue, drops on the way; none if the queue is empty.
pub(super) fn take(
    params: &Params,
    state: &mut State,
    stats: &mut Stats,
    (now, backlog): (Time, &mut Backlog),
    (dice, drops): (&mut Dice, &mut Drops),
) -> Option<Queued> {
    loop {
        let mut packet = backlog.pop()?;
        let signal = state.signal(params, now, &mut packet, dice);
        if !signal.drop || backlog.is_empty() {
            stats.marks += u64::from(signal.marked);
            return Some(packet);
        }
        stats.drops += 1;
        drops.push(packet, DropKind::Aqm);
    }
}

/// One queue managed by COBALT.
#[derive(Debug)]
pub struct Cobalt {
    params: Params,
    memlimit: Bytes,
    state: State,
    stats: Stats,
    backlog: Backlog,
    dice: Dice,
    /// Time of the last arrival, at which a queue may be without room.
    now: Time,
}

impl Cobalt {
    /// An empty queue. BLUE draws from the seed.
    pub fn new(params: Params, memlimit: Bytes, seed: u64) -> Cobalt {
        Cobalt {
            params,
            memlimit,
            state: State::default(),
            stats: Stats::default(),
            backlog: Backlog::default(),
            dice: Dice::new(seed),
            now: Time::ZERO,
        }
    }
}

impl Discipline for Cobalt {
    /// A port does not ask an empty queue for a packet, so the end of an idle time counts as such a request.
    fn enqueue(&mut self, now: Time, packet: Queued, drops: &mut Drops) {
        self.now = now;
        if self.backlog.is_empty() {
            self.state.queue_empty(&self.params, now);
        }
        self.backlog.push(packet);
        while self.backlog.bytes() > self.memlimit {
            self.shed(drops);
        }
    }

    /// A full queue drops its oldest packet, not the arriving one.
    fn sheds(&self) -> bool {
        true
    }

    fn shed(&mut self, drops: &mut Drops) {
        if let Some(oldest) = self.backlog.pop() {
            self.state.queue_full(&self.params, self.now);
            self.stats.drop_overlimit += 1;
            drops.push(oldest, DropKind::Aqm);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        let (queue, sinks) = ((now, &mut self.backlog), (&mut self.dice, drops));
        take(&self.params, &mut self.state, &mut self.stats, queue, sinks)
    }

    fn reads_frames(&self) -> bool {
        false
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Stats { drops, marks, drop_overlimit } = self.stats;
        vec![("drops", drops), ("marks", marks), ("drop_overlimit", drop_overlimit)]
    }
}

#[cfg(test)]
#[path = "cobalt_tests.rs"]
mod tests;
