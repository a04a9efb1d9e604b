//! What is on its way to hosts: for each host its frames, in the order of their arrival.
//!
//! Frames to one host do not overtake each other, so only the first of each host needs an event; the
//! others wait behind it, in lists through one array. A segment of the usual form has been read or
//! copied by then, which takes a third of its frame's room and gives the buffer back where it is still
//! in the cache. Must not know what a host does with either.

use super::region::HostPlace;
use super::slab::Slot;
use crate::event::Number;
use crate::wire::{CompactSegment, UsualSegment};
use sojourn_packet::Time;

/// Behind the last of a list.
const NONE: u32 = u32::MAX;

/// Something that will reach a host.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arriving {
    Segment(UsualSegment),
    /// Copied whole, to be read where it is needed.
    Compact(CompactSegment),
    /// A frame of any other form.
    Frame(Slot),
}

/// When something reaches its host, and its place among the events of that instant.
pub(super) type Instant = (Time, Number);

/// What follows, at the same host: nothing if `next` is [`NONE`].
// One line of the cache, not parts of two.
#[repr(align(64))]
#[derive(Clone, Copy, Debug)]
struct Place {
    arriving: Arriving,
    next: u32,
    next_number: Number,
    next_at: Time,
}

/// The places of the first and the last that are on their way to a host, [`NONE`] if there are none.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// What is on its way to the hosts of a region.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    places: Vec<Place>,
    free: Vec<u32>,
    /// By host.
    lists: Vec<List>,
}

impl Inbound {
    /// Another host, behind those that are there.
    pub(super) fn attach(&mut self) {
        self.lists.push(List { first: NONE, last: NONE });
    }

    /// Something will reach a host, not before what is on its way already: where it is to be put down,
    /// and true if it is the first; then its instant is to be waited for.
    #[inline(always)]
    pub(super) fn put(&mut self, host: HostPlace, due: Instant) -> (&mut Arriving, bool) {
        let index = self.free.pop().unwrap_or_else(|| self.grow());
        let list = &mut self.lists[host.0 as usize];
        let last = std::mem::replace(&mut list.last, index);
        if last == NONE {
            list.first = index;
        } else {
            let before = &mut self.places[last as usize];
            before.next = index;
            (before.next_at, before.next_number) = due;
        }
        let place = &mut self.places[index as usize];
        place.next = NONE;
        (&mut place.arriving, last == NONE)
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let arriving = Arriving::Segment(UsualSegment::default());
        let (next_at, next_number) = (Time::MAX, Number::default());
        self.places.push(Place { arriving, next: NONE, next_number, next_at });
        self.places.len() as u32 - 1
    }

    /// Takes the first, which has reached its host, to be looked at where it lies; and when the next
    /// one will, if there is one. There must be a first.
    #[inline]
    pub(super) fn take(&mut self, host: HostPlace) -> (&Arriving, Option<Instant>) {
        let list = &mut self.lists[host.0 as usize];
        let Place { arriving, next, next_number, next_at } = &self.places[list.first as usize];
        self.free.push(list.first);
        list.first = *next;
        if *next == NONE {
            list.last = NONE;
            return (arriving, None);
        }
        (arriving, Some((*next_at, *next_number)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::Event;
    use super::*;
    use crate::event::EventQueue;

    /// Puts a segment; true if it is the first.
    fn put(inbound: &mut Inbound, host: HostPlace, due: Instant, seq: u32) -> bool {
        let (place, is_first) = inbound.put(host, due);
        *place = Arriving::Segment(UsualSegment { seq, ..UsualSegment::default() });
        is_first
    }

    fn seq(arriving: &Arriving) -> u32 {
        match arriving {
            Arriving::Segment(segment) => segment.seq,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_host_is_reached_in_order_and_told_of_the_next_alone() {
        let mut inbound = Inbound::default();
        let mut numbers = EventQueue::<Event>::new();
        let mut due = |at| (Time(at), numbers.take_number());
        let hosts = [HostPlace(0), HostPlace(1)];
        hosts.iter().for_each(|_| inbound.attach());
        assert!(put(&mut inbound, hosts[0], due(10), 1));
        assert!(put(&mut inbound, hosts[1], due(5), 2));
        let third = due(20);
        assert!(!put(&mut inbound, hosts[0], third, 3));
        let (first, next) = inbound.take(hosts[0]);
        assert_eq!((seq(first), next), (1, Some(third)));
        let fourth = due(20);
        assert!(!put(&mut inbound, hosts[0], fourth, 4));
        let (second, next) = inbound.take(hosts[0]);
        assert_eq!((seq(second), next), (3, Some(fourth)));
        let (third, next) = inbound.take(hosts[0]);
        assert_eq!((seq(third), next), (4, None));
        assert!(put(&mut inbound, hosts[0], due(30), 5), "nothing was on its way");
        assert_eq!(seq(inbound.take(hosts[1]).0), 2);
    }

    #[test]
    fn a_segment_takes_no_more_room_than_a_line_of_the_cache() {
        assert!(size_of::<Place>() <= 64, "{} bytes", size_of::<Place>());
    }
}
