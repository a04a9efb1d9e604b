//! CoDel, as the pseudo-code of RFC 8289 section 5 has it.
//!
//! Parameters, state and statistics are apart, and the algorithm touches its queue through the few
//! functions of [`CodelQueue`], so that disciplines of many queues can run one state for each. It
//! must not know how a queue is kept, nor the rate at which it drains.
//!
//! With `ecn`, packets of ECN-capable transports are marked instead of dropped (section 1 of the RFC
//! leaves the choice open): a mark counts as a drop does, and the marked packet is the one sent.
//!
//! Its drops happen at dequeue, before transmission: the packet that follows takes the turn on the
//! wire at once. A P4 program in Tofino's egress drops after the scheduler, where the turn and the
//! shaper's tokens are already spent; the two differ by that gap even with equal drop times.

use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, ECN, FULL_FRAME, Parameter, Queued,
    Registered, Settings,
};
use crate::ecn;
use sojourn_packet::{Bytes, Time};

const TARGET: Time = Time::from_millis(5);
const INTERVAL: Time = Time::from_millis(100);

/// The parameters that all disciplines with a CoDel inside have.
pub const TARGET_PARAMETER: Parameter = Parameter::new(
    "target",
    "ns",
    TARGET.0,
    "sojourn time that a standing queue may have (TARGET)",
);
/// The other one.
pub const INTERVAL_PARAMETER: Parameter = Parameter::new(
    "interval",
    "ns",
    INTERVAL.0,
    "time above target before the first drop, about a worst-case RTT (INTERVAL)",
);

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "codel",
    summary: "RFC 8289 CoDel: drops at dequeue while the sojourn time stays above target",
    parameters: &[
        TARGET_PARAMETER,
        INTERVAL_PARAMETER,
        Parameter::new(
            "maxpacket",
            "bytes",
            FULL_FRAME.0,
            "no drops at or below this backlog: the largest frame of the interface",
        ),
        ECN,
    ],
    build,
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let params = Params {
        target: settings.time("target")?,
        interval: settings.time("interval")?,
        maxpacket: settings.get("maxpacket").map_or(FULL_FRAME, Bytes),
    };
    Ok(Box::new(Codel { ecn: settings.switch("ecn")?, ..Codel::new(params) }))
}

/// Parameters (RFC 8289 section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// TARGET: sojourn time that a standing queue may have. Default 5 ms.
    pub target: Time,
    /// INTERVAL: the sliding window in which the sojourn time must have been below TARGET at least
    /// once. Default 100 ms.
    pub interval: Time,
    /// The backlog at or below which nothing is dropped. Default 1514 bytes; the RFC's listing says
    /// 512 with the advice to use the interface's MTU, which for a frame without FCS is this.
    pub maxpacket: Bytes,
}

impl Default for Params {
    fn default() -> Params {
        Params { target: TARGET, interval: INTERVAL, maxpacket: FULL_FRAME }
    }
}

/// State of one queue (RFC 8289 section 5.1), names as there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// When the sojourn time will have been above TARGET for INTERVAL; absent while it is below
    /// (the RFC writes 0).
    pub first_above_time: Option<Time>,
    /// When to drop next.
    pub drop_next: Time,
    /// Packets dropped since entering the drop state.
    pub count: u32,
    /// `count` at the last entry.
    pub lastcount: u32,
    /// In the drop state.
    pub dropping: bool,
}

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked instead.
    pub marks: u64,
    /// Entries into the drop state.
    pub drop_states: u64,
    /// Longest sojourn time of a packet taken from the queue.
    pub max_sojourn: Time,
}

/// What CoDel does with a queue, and all it does.
pub trait CodelQueue {
    /// A packet of the queue.
    type Packet;
    /// Takes the packet at the head.
    fn pop(&mut self) -> Option<Self::Packet>;
    /// Bytes left in the queue.
    fn bytes(&self) -> Bytes;
    /// When a packet was enqueued.
    fn enqueued(packet: &Self::Packet) -> Time;
    /// Drops a packet.
    fn drop(&mut self, packet: Self::Packet);
    /// Marks a packet so that it need not be dropped; false if it cannot be marked.
    fn mark(&mut self, _packet: &mut Self::Packet) -> bool {
        false
    }
}

/// RFC 8289 section 5.5, the dequeue routine: the packet to send, drops on the way.
pub fn dequeue<Q: CodelQueue>(
    params: &Params,
    state: &mut State,
    stats: &mut Stats,
    now: Time,
    queue: &mut Q,
) -> Option<Q::Packet> {
    let mut r = dodequeue(params, state, stats, now, queue);
    if state.dropping {
        if !r.ok_to_drop {
            // The sojourn time fell below TARGET: leave the drop state.
            state.dropping = false;
        }
        // One drop per `drop_next` that has passed, each making the next one come sooner. With a
        // large backlog several may be due at once.
        while now >= state.drop_next && state.dropping {
            state.count = state.count.wrapping_add(1);
            if marked(stats, queue, &mut r.packet) {
                state.drop_next = control_law(params.interval, state.drop_next, state.count);
                break;
            }
            discard(stats, queue, r.packet);
            r = dodequeue(params, state, stats, now, queue);
            if r.ok_to_drop {
                state.drop_next = control_law(params.interval, state.drop_next, state.count);
            } else {
                state.dropping = false;
            }
        }
    } else if r.ok_to_drop {
        // Above TARGET for INTERVAL: enter the drop state.
        if !marked(stats, queue, &mut r.packet) {
            discard(stats, queue, r.packet);
            r = dodequeue(params, state, stats, now, queue);
        }
        state.dropping = true;
        stats.drop_states += 1;
        // If the last drop state ended a short while ago, the drop rate it had come to is a good
        // one to start from: `drop_next` is at most INTERVAL after the last drop.
        let delta = state.count.wrapping_sub(state.lastcount);
        let recently = now.saturating_sub(state.drop_next).0 < 16 * params.interval.0;
        state.count = if delta > 1 && recently { delta } else { 1 };
        state.drop_next = control_law(params.interval, now, state.count);
        state.lastcount = state.count;
    }
    r.packet
}

struct Dodequeue<P> {
    packet: Option<P>,
    ok_to_drop: bool,
}

/// RFC 8289 section 5.6: takes a packet and tells whether the sojourn time has been above TARGET
/// for INTERVAL.
fn dodequeue<Q: CodelQueue>(
    params: &Params,
    state: &mut State,
    stats: &mut Stats,
    now: Time,
    queue: &mut Q,
) -> Dodequeue<Q::Packet> {
    let Some(packet) = queue.pop() else {
        // An empty queue cannot be above TARGET.
        state.first_above_time = None;
        return Dodequeue { packet: None, ok_to_drop: false };
    };
    let sojourn_time = now.saturating_sub(Q::enqueued(&packet));
    stats.max_sojourn = stats.max_sojourn.max(sojourn_time);
    let mut ok_to_drop = false;
    // The second condition keeps a slow link busy: with no more than one packet behind this one,
    // a drop would leave the link idle.
    if sojourn_time < params.target || queue.bytes() <= params.maxpacket {
        state.first_above_time = None;
    } else {
        match state.first_above_time {
            None => state.first_above_time = Some(now + params.interval),
            Some(first_above_time) => ok_to_drop = now >= first_above_time,
        }
    }
    Dodequeue { packet: Some(packet), ok_to_drop }
}

fn marked<Q: CodelQueue>(stats: &mut Stats, queue: &mut Q, packet: &mut Option<Q::Packet>) -> bool {
    let marked = packet.as_mut().is_some_and(|packet| queue.mark(packet));
    stats.marks += u64::from(marked);
    marked
}

fn discard<Q: CodelQueue>(stats: &mut Stats, queue: &mut Q, packet: Option<Q::Packet>) {
    if let Some(packet) = packet {
        stats.drops += 1;
        queue.drop(packet);
    }
}

/// RFC 8289 section 5.6: the next drop is INTERVAL / sqrt(count) after `t`.
pub fn control_law(interval: Time, t: Time, count: u32) -> Time {
    t + spacing(interval, count)
}

/// INTERVAL / sqrt(count), rounded to the nearest nanosecond, halves up.
///
/// With x = INTERVAL / sqrt(count): floor(2 x) = floor(sqrt(4 INTERVAL^2 / count)), and the integer
/// square root of the integer quotient is exactly that floor, because no square lies between the
/// quotient and its integer part. Then round(x) = floor((floor(2 x) + 1) / 2). No float is involved
/// and no approximation such as the kernel's Newton steps. A count of 0 (after 2^32 drops in one
/// drop state) is taken as 1.
pub fn spacing(interval: Time, count: u32) -> Time {
    let doubled = 2 * u128::from(interval.0);
    let floor_of_double = (doubled * doubled / u128::from(count.max(1))).isqrt();
    Time(floor_of_double.div_ceil(2) as u64)
}

/// A queue managed by CoDel.
#[derive(Debug, Default)]
pub struct Codel {
    params: Params,
    ecn: bool,
    state: State,
    stats: Stats,
    backlog: Backlog,
}

impl Codel {
    /// An empty queue that drops and does not mark. It has no limit of its own: room is the
    /// buffer's business.
    pub fn new(params: Params) -> Codel {
        Codel { params, ..Codel::default() }
    }
}

/// A backlog whose drops are counted elsewhere.
struct Managed<'a> {
    ecn: bool,
    backlog: &'a mut Backlog,
    drops: &'a mut Drops,
}

impl CodelQueue for Managed<'_> {
    type Packet = Queued;

    fn pop(&mut self) -> Option<Queued> {
        self.backlog.pop()
    }

    fn bytes(&self) -> Bytes {
        self.backlog.bytes()
    }

    fn enqueued(packet: &Queued) -> Time {
        packet.enqueued
    }

    fn drop(&mut self, packet: Queued) {
        self.drops.push(packet, DropKind::Aqm);
    }

    fn mark(&mut self, packet: &mut Queued) -> bool {
        self.ecn && ecn::mark(&mut packet.packet)
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, _now: Time, packet: Queued, _drops: &mut Drops) {
        self.backlog.push(packet);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Queued> {
        let mut queue = Managed { ecn: self.ecn, backlog: &mut self.backlog, drops };
        dequeue(&self.params, &mut self.state, &mut self.stats, now, &mut queue)
    }

    fn packets(&self) -> usize {
        self.backlog.len()
    }

    fn bytes(&self) -> Bytes {
        self.backlog.bytes()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("drops", self.stats.drops),
            ("marks", self.stats.marks),
            ("drop_states", self.stats.drop_states),
            ("max_sojourn_ns", self.stats.max_sojourn.0),
        ]
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
