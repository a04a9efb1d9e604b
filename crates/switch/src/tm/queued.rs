//! A packet as the traffic manager holds it: the packet and what was known when it came.

use sojourn_packet::Carried;
use sojourn_packet::{Bytes, Packet, Time};
use std::num::NonZeroU64;

/// When the pass ran that asked for a copy, if the packet is one. In eight bytes, so that what waits
/// for the traffic manager has at most 128 and is moved without a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Requested(Option<NonZeroU64>);

impl Requested {
    /// Of a copy.
    pub(crate) fn at(time: Time) -> Requested {
        Requested(NonZeroU64::new(time.0 + 1))
    }

    /// The instant; none of a packet that is no copy.
    pub(crate) fn time(self) -> Option<Time> {
        self.0.map(|after| Time(after.get() - 1))
    }

    pub(crate) fn is_copy(self) -> bool {
        self.0.is_some()
    }
}

/// What a packet carries through the switch beside its bytes.
#[derive(Clone, Debug, Default)]
pub struct Tag {
    /// Length as it arrived at the switch (or as the copy was made), without FCS.
    pub(crate) arrived_length: u32,
    /// It came in by a wire, and is no copy and not on another round.
    pub(crate) from_wire: bool,
    /// It arrived with Congestion Experienced set.
    pub(crate) arrived_marked: bool,
    /// The frame as it arrived, kept only if some port captures.
    pub(crate) arrived: Option<Box<Packet>>,
    /// Of a copy made by a mirror session.
    pub(crate) mirror_requested: Requested,
}

/// What the traffic manager notes down at enqueue, for the egress pass.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Noted {
    pub cells: u32,
    pub depth: u32,
    pub packets: u32,
    pub congestion: u8,
    pub cos: u8,
    pub color: u8,
    pub rid: u16,
    pub rid_first: bool,
    pub bypass_egress: bool,
}

/// A packet in a queue.
#[derive(Clone, Debug, Default)]
pub struct Queued {
    /// The packet, bridged or mirror header in front.
    pub packet: Packet,
    /// When it was enqueued.
    pub enqueued: Time,
    pub(crate) tag: Tag,
    pub(crate) noted: Noted,
    /// What the program keeps with it from one pass to the next.
    pub(crate) carried: Carried,
}

impl Queued {
    /// A packet enqueued at an instant, as a discipline sees it.
    pub fn new(packet: Packet, enqueued: Time) -> Queued {
        Queued { packet, enqueued, ..Queued::default() }
    }

    /// A packet that has not come to a queue yet.
    #[inline(always)]
    pub(crate) fn entering(packet: Packet, tag: Tag, carried: Carried) -> Queued {
        // Each part once: a default one would be made and dropped for what is left of it.
        Queued { packet, enqueued: Time::ZERO, tag, noted: Noted::default(), carried }
    }

    /// Its length without FCS, headers of the switch's own included.
    #[inline]
    pub fn size(&self) -> Bytes {
        self.packet.len()
    }

    /// Its length as the traffic manager counts it: FCS included (TNA p. 40).
    #[inline]
    pub fn length(&self) -> u32 {
        counted_length(&self.packet)
    }
}

/// Length of a packet as the traffic manager counts it.
#[inline]
pub fn counted_length(packet: &Packet) -> u32 {
    (packet.len().0 + super::line::FCS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_in_a_queue_is_moved_without_a_call() {
        assert!(size_of::<Queued>() <= 112, "{} bytes", size_of::<Queued>());
    }

    #[test]
    fn a_copy_knows_when_it_was_asked_for_and_another_packet_that_it_is_none() {
        assert_eq!(Requested::default().time(), None);
        assert_eq!(Requested::at(Time::ZERO).time(), Some(Time::ZERO));
        assert!(Requested::at(Time(7)).is_copy() && !Requested::default().is_copy());
    }
}
