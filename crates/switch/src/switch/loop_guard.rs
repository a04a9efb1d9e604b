//! Loop guard: bounds how often packets are copied, resubmitted or recirculated.
//!
//! On a chip, a packet in an endless loop takes only the bandwidth of its loop. In a simulation
//! each round costs CPU time, and a round of zero virtual time would never end. The limit therefore
//! bounds the rounds. A packet beyond the limit is dropped and counted, whatever its origin. Only
//! the switch's clock decides, so the same packets at the same instants are always dropped.

use super::Switch;
use crate::config::RoundLimit;
use crate::statistics::Count;
use sojourn_packet::{Bytes, FaultReport, PacketId, PortId, Time};
use std::fmt;

/// Path by which a packet returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loop {
    /// It is resubmitted to the port.
    Resubmission(PortId),
    /// It is a copy by the mirror session.
    Copy(u16),
    /// It comes back through the port.
    Port(PortId),
    /// Egress at the port has sent it back.
    Egress(PortId),
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loop::Resubmission(port) => write!(f, "resubmitted from port {}", port.0),
            Loop::Copy(session) => write!(f, "copied by mirror session {session}"),
            Loop::Port(port) => write!(f, "come back through port {}", port.0),
            Loop::Egress(port) => write!(f, "recirculated from egress at port {}", port.0),
        }
    }
}

/// The rounds that remain, and the packets that had none.
#[derive(Debug)]
pub(super) struct LoopGuard {
    limit: RoundLimit,
    /// Time at which the full burst would be available.
    full: Time,
    /// Dropped packets.
    pub dropped: Count,
    /// The first of it.
    first: Option<(PacketId, Loop, Time)>,
}

impl LoopGuard {
    pub fn new(limit: RoundLimit) -> LoopGuard {
        LoopGuard { limit, full: Time::ZERO, dropped: Count::default(), first: None }
    }

    /// Takes a round at an instant; false if there is none.
    fn take(&mut self, now: Time) -> bool {
        let RoundLimit { at_once, every } = self.limit;
        let full = self.full.max(now) + every;
        let free = full.saturating_sub(now) <= Time(every.0.saturating_mul(at_once.into()));
        if free {
            self.full = full;
        }
        free
    }

    /// Gives the first packet that was dropped another number.
    fn renumber(&mut self, number: impl FnOnce(PacketId) -> PacketId) {
        if let Some((packet, ..)) = &mut self.first {
            *packet = number(*packet);
        }
    }

    /// Fault report, if packets were dropped.
    pub fn fault(&self) -> Option<FaultReport> {
        let (packet, by, at) = self.first?;
        let kind = if packet.is_generated() { "generated packet" } else { "packet" };
        let first = format!("{kind} {}, {by}, at {at}", packet.number());
        Some(FaultReport { kind: "rounds", count: self.dropped.packets, first, place: None })
    }
}

impl Switch {
    /// Gives packets that will be named in its statistics other numbers.
    pub fn renumber(&mut self, number: impl FnOnce(PacketId) -> PacketId) {
        self.rounds.renumber(number);
    }

    /// True if a packet that returns may go on. One that may not is counted; the caller drops it.
    pub(super) fn goes_on(&mut self, packet: PacketId, size: Bytes, by: Loop) -> bool {
        if self.rounds.take(self.now) {
            return true;
        }
        self.rounds.dropped.add(size);
        self.rounds.first.get_or_insert((packet, by, self.now));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_are_free_at_once_and_one_more_in_each_interval() {
        let mut rounds = LoopGuard::new(RoundLimit { at_once: 3, every: Time(10) });
        let mut taken = |at, wanted| (0..wanted).filter(|_| rounds.take(Time(at))).count();
        assert_eq!(taken(100, 9), 3);
        assert_eq!(taken(109, 9), 0);
        assert_eq!(taken(110, 9), 1);
        assert_eq!(taken(135, 9), 2, "the third is free at 140");
        assert_eq!(taken(1_000, 9), 3);
    }

    #[test]
    fn the_first_entry_without_a_member_is_reported_by_its_number() {
        let mut rounds = LoopGuard::new(RoundLimit::default());
        rounds.renumber(|_| unreachable!("none was dropped"));
        rounds.first = Some((PacketId(7), Loop::Copy(3), Time(9)));
        rounds.renumber(|PacketId(number)| PacketId(number * 6));
        let observations = rounds.fault().map(|fault| fault.first).unwrap_or_default();
        assert!(observations.starts_with("packet 42, copied"), "{observations}");
    }

    #[test]
    fn a_generated_packet_has_its_number_among_the_generated_ones() {
        let mut rounds = LoopGuard::new(RoundLimit::default());
        rounds.first = Some((PacketId::generated(7), Loop::Copy(3), Time(9)));
        let first = rounds.fault().map(|fault| fault.first).unwrap_or_default();
        assert!(first.starts_with("generated packet 7, copied"), "{first}");
    }
}
