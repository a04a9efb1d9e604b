//! CoDel, as the pseudo-code of RFC 8289 section 5 has it.
//!
//! `control_law.rs` makes the decisions; this module applies them to a queue. Parameters, state and
//! statistics are separate, and the algorithm accesses its queue through the few functions of
//! [`CodelQueue`], so that disciplines with many queues can run one state for each. Must not depend
//! on the queue's storage, nor on the rate at which it drains.
//!
//! With `ecn`, packets of ECN-capable transports are marked instead of dropped (section 1 of the RFC
//! leaves the choice open): a mark counts as a drop does, and the marked packet is the one sent.
//!
//! Its drops happen at dequeue, before transmission: the packet that follows takes the turn on the
//! wire at once. A P4 program in Tofino's egress drops after the scheduler, where the turn and the
//! shaper's tokens are already spent; the two differ by that gap even with equal drop times.

mod control_law;

pub use control_law::{Params, State, control_law, spacing};

use super::{
    Backlog, Discipline, DisciplineError, DropKind, Drops, ECN, FULL_FRAME, Kind, Parameter,
    QueueLength, Queued, Registered, Settings,
};
use crate::ecn;
use control_law::{INTERVAL, TARGET};
use sojourn_packet::{Bytes, Time};

/// The parameters that all disciplines with a CoDel inside have.
pub const TARGET_PARAMETER: Parameter = Parameter::new(
    "target",
    Kind::Time,
    TARGET.0,
    "sojourn time that a standing queue may have (TARGET)",
);
/// The other one.
pub const INTERVAL_PARAMETER: Parameter = Parameter::new(
    "interval",
    Kind::Time,
    INTERVAL.0,
    "time above target before the first drop, about a worst-case RTT (INTERVAL)",
);
/// Additional parameter of disciplines that use the interface's frames.
pub const MAXPACKET_PARAMETER: Parameter = Parameter::new(
    "maxpacket",
    Kind::Size,
    FULL_FRAME.0,
    "no drops at or below this backlog: the largest frame of the interface",
);

/// The line for the table of disciplines.
pub const REGISTRATION: Registered = Registered {
    name: "codel",
    summary: "RFC 8289 CoDel: drops at dequeue while the sojourn time stays above target",
    parameters: &[TARGET_PARAMETER, INTERVAL_PARAMETER, MAXPACKET_PARAMETER, ECN],
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

/// Queue operations that CoDel needs.
pub trait CodelQueue {
    /// A packet of the queue.
    type Packet;
    /// Enqueue time of the packet at the head, and the bytes behind it.
    fn head(&self) -> Option<(Time, Bytes)>;
    /// Takes the packet at the head.
    fn pop(&mut self) -> Option<Self::Packet>;
    /// Drops a packet that was taken.
    fn drop(&mut self, packet: Self::Packet);
    /// Marks the packet at the head so that it need not be dropped; false if it cannot be marked.
    fn mark_head(&mut self) -> bool {
        false
    }
}

/// RFC 8289 section 5.5, the dequeue routine: the packet to send, drops on the way. With a large
/// backlog several may be due at once.
pub fn dequeue<Q: CodelQueue>(
    params: &Params,
    state: &mut State,
    stats: &mut Stats,
    now: Time,
    queue: &mut Q,
) -> Option<Q::Packet> {
    dequeue_by(spacing, params, state, stats, now, queue)
}

/// The same with another INTERVAL / sqrt(count) than [`spacing`].
pub(super) fn dequeue_by<Q: CodelQueue>(
    spacing: impl Fn(Time, u32) -> Time,
    params: &Params,
    state: &mut State,
    stats: &mut Stats,
    now: Time,
    queue: &mut Q,
) -> Option<Q::Packet> {
    loop {
        let Some((enqueued, behind)) = queue.head() else {
            state.emptied();
            return None;
        };
        let sojourn_time = now.saturating_sub(enqueued);
        stats.max_sojourn = stats.max_sojourn.max(sojourn_time);
        let was_dropping = state.dropping;
        if !state.drops_by(&spacing, params, now, sojourn_time, behind) {
            break;
        }
        stats.drop_states += u64::from(!was_dropping);
        if queue.mark_head() {
            stats.marks += 1;
            state.settle_by(&spacing, params);
            break;
        }
        stats.drops += 1;
        if let Some(packet) = queue.pop() {
            queue.drop(packet);
        }
    }
    queue.pop()
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
pub(super) struct Managed<'a> {
    pub(super) ecn: bool,
    pub(super) backlog: &'a mut Backlog,
    pub(super) drops: &'a mut Drops,
}

impl CodelQueue for Managed<'_> {
    type Packet = Queued;

    fn pop(&mut self) -> Option<Queued> {
        self.backlog.pop()
    }

    fn head(&self) -> Option<(Time, Bytes)> {
        let head = self.backlog.front()?;
        Some((head.enqueued, self.backlog.bytes() - head.size()))
    }

    fn drop(&mut self, packet: Queued) {
        self.drops.push(packet, DropKind::Aqm);
    }

    fn mark_head(&mut self) -> bool {
        self.ecn && self.backlog.front_mut().is_some_and(|head| ecn::mark(&mut head.packet))
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

    fn reads_frames(&self) -> bool {
        false
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn length(&self) -> QueueLength {
        self.backlog.length()
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
mod tests;
