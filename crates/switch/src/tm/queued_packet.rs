//! Queued packet: a packet in the traffic manager, with the data known on its arrival.

use sojourn_packet::PacketMetadata;
use sojourn_packet::{Bytes, Packet, Time};
use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};

/// Time of the pass that requested the copy, if the packet is one, in eight bytes.
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

/// Data of a packet in the switch in addition to its bytes.
#[derive(Clone, Debug, Default)]
pub struct Tag {
    /// Length as it arrived at the switch (or as the copy was made), without FCS.
    pub(crate) arrived_length: u32,
    /// It came in by a wire, and is no copy and not on another round.
    pub(crate) from_wire: bool,
    /// It arrived with Congestion Experienced set.
    pub(crate) arrived_marked: bool,
    /// The place of the port by which it came in from a wire, plus one; else zero.
    pub(crate) came_by: u16,
    /// The frame as it arrived, stored only if some port captures.
    pub(crate) arrived: Option<Box<Packet>>,
    /// Of a copy made by a mirror session.
    pub(crate) mirror_requested: Requested,
}

/// The measurements at enqueue that the egress pass reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EnqueueRecord {
    pub cells: u32,
    pub depth: u32,
    pub packets: u32,
    pub congestion: u8,
    pub cos: u8,
    pub color: u8,
    pub rid: u16,
    pub rid_first: bool,
    pub bypass_egress: bool,
    /// It goes to the deflection queue if its queue has no room.
    pub deflect_on_drop: bool,
    /// It has been deflected.
    pub deflected: bool,
}

/// A packet in a queue, at a place that it keeps: it goes from list to list without being moved. What is
/// written a field at a time and then copied whole is waited for.
#[derive(Clone, Debug, Default)]
pub struct Queued(Box<Contents>);

/// Data of a packet in a queue.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// The packet, bridged or mirror header in front.
    pub packet: Packet,
    /// Time of its enqueueing.
    pub enqueued: Time,
    pub(crate) tag: Tag,
    pub(crate) noted: EnqueueRecord,
    /// The program's metadata from one pass to the next.
    pub(crate) packet_metadata: PacketMetadata,
}

impl Queued {
    /// A packet enqueued at an instant, as a discipline sees it.
    pub fn new(packet: Packet, enqueued: Time) -> Queued {
        Queued(Box::new(Contents { packet, enqueued, ..Contents::default() }))
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

impl Deref for Queued {
    type Target = Contents;

    #[inline(always)]
    fn deref(&self) -> &Contents {
        &self.0
    }
}

impl DerefMut for Queued {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Contents {
        &mut self.0
    }
}

/// Places that packets have left, for those that come.
#[derive(Debug, Default)]
pub(crate) struct Places {
    left: Vec<Queued>,
}

impl Places {
    /// A packet that has not come to a queue yet gets a place; its tag is to be written there.
    #[inline(always)]
    pub(crate) fn enter(&mut self, packet: Packet, packet_metadata: PacketMetadata) -> Queued {
        let mut queued = self.left.pop().unwrap_or_default();
        let contents = &mut *queued.0;
        contents.packet = packet;
        contents.enqueued = Time::ZERO;
        contents.tag = Tag::default();
        contents.noted = EnqueueRecord::default();
        contents.packet_metadata = packet_metadata;
        queued
    }

    /// A packet has left, or was dropped.
    #[inline(always)]
    pub(crate) fn release(&mut self, queued: Queued) {
        self.left.push(queued);
    }
}

/// Length of a packet as the traffic manager counts it.
#[inline]
pub fn counted_length(packet: &Packet) -> u32 {
    (packet.len().0 + super::serializer::FCS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_comes_has_nothing_of_the_one_whose_place_it_gets() {
        let mut places = Places::default();
        let tag = Tag { from_wire: true, arrived_marked: true, ..Tag::default() };
        let packet = Packet { bytes: vec![1], ..Packet::default() };
        let mut gone = places.enter(packet, PacketMetadata::from(Box::new(7)));
        gone.tag = tag;
        (gone.enqueued, gone.noted.cos, gone.noted.bypass_egress) = (Time(5), 3, true);
        places.release(gone);
        let next = places.enter(Packet::default(), PacketMetadata::default());
        assert_eq!(format!("{next:?}"), format!("{:?}", Queued::default()));
    }

    #[test]
    fn a_copy_carries_the_time_of_its_request_and_other_packets_carry_none() {
        assert_eq!(Requested::default().time(), None);
        assert_eq!(Requested::at(Time::ZERO).time(), Some(Time::ZERO));
        assert!(Requested::at(Time(7)).is_copy() && !Requested::default().is_copy());
    }
}
