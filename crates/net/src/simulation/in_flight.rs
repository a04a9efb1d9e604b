//! Frames in flight to hosts: one list per host, in the order of arrival.
//!
//! Frames to one host do not overtake each other, so only the first frame of each host has a timer.
//! The others follow it in linked lists through one array. Segments of the common form are already
//! parsed or copied. This takes a third of the frame's memory and returns the buffer while it is in
//! the cache. The module must not depend on how a host handles a frame or a segment.

use super::partition::HostPlace;
use super::slab::Slot;
use crate::event::Number;
use crate::winner_tree::{Instant, Leaf, WinnerTree};
use crate::wire::{AbstractSegment, PredictedHeader};
use sojourn_packet::Time;

/// Behind the last of a list.
const NONE: u32 = u32::MAX;

/// A frame in flight to a host.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arriving {
    Segment(PredictedHeader),
    /// Copied whole, to be read where it is needed.
    Compact(AbstractSegment),
    /// A frame of any other form.
    Frame(Slot),
}

/// Next entry for the same host; none if `next` is [`NONE`].
// One line of the cache, not parts of two.
#[repr(align(64))]
#[derive(Clone, Copy, Debug)]
struct Entry {
    arriving: Arriving,
    next: u32,
    next_number: Number,
    next_at: Time,
}

/// The first and the last frame in flight to a host, [`NONE`] if there are none.
#[derive(Clone, Copy, Debug)]
struct HostList {
    first: u32,
    last: u32,
    /// Leaf of its first entry, if there is one.
    leaf: Leaf,
}

/// The frames in flight to the hosts of a partition.
#[derive(Debug)]
pub(super) struct InFlight {
    places: Vec<Entry>,
    free: Vec<u32>,
    /// By host.
    lists: Vec<HostList>,
    /// The first of each host.
    firsts: WinnerTree<HostPlace>,
}

impl InFlight {
    pub(super) fn new() -> InFlight {
        let (places, free, lists) = (Vec::new(), Vec::new(), Vec::new());
        InFlight { places, free, lists, firsts: WinnerTree::new() }
    }

    /// Time of the next arrival at a host; after all times of a run if nothing is in flight.
    #[inline]
    pub(super) fn next_time(&self) -> Time {
        self.firsts.next_time()
    }

    /// The next arrival: its time and its host.
    #[inline]
    pub(super) fn next(&self) -> Option<(Instant, HostPlace)> {
        self.firsts.first()
    }

    /// Another host, behind those that are there.
    pub(super) fn attach(&mut self) {
        self.lists.push(HostList { first: NONE, last: NONE, leaf: Leaf::default() });
    }

    /// True if something will reach a host.
    pub(super) fn is_on_its_way(&self, host: HostPlace) -> bool {
        self.lists[host.0 as usize].last != NONE
    }

    /// Something will reach a host, not before what is on its way already: where it is to be put down.
    #[inline(always)]
    pub(super) fn put(&mut self, host: HostPlace, due: Instant) -> &mut Arriving {
        let index = self.free.pop().unwrap_or_else(|| self.grow());
        let list = &mut self.lists[host.0 as usize];
        let last = std::mem::replace(&mut list.last, index);
        if last == NONE {
            list.first = index;
            list.leaf = self.firsts.insert(host, due);
        } else {
            let before = &mut self.places[last as usize];
            before.next = index;
            (before.next_at, before.next_number) = due;
        }
        let place = &mut self.places[index as usize];
        place.next = NONE;
        &mut place.arriving
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let arriving = Arriving::Segment(PredictedHeader::default());
        let (next_at, next_number) = (Time::MAX, Number::default());
        self.places.push(Entry { arriving, next: NONE, next_number, next_at });
        self.places.len() as u32 - 1
    }

    /// Takes the first arrival at a host, in place. There must be one.
    #[inline]
    pub(super) fn take(&mut self, host: HostPlace) -> &Arriving {
        let list = &mut self.lists[host.0 as usize];
        let Entry { arriving, next, next_number, next_at } = &self.places[list.first as usize];
        self.free.push(list.first);
        list.first = *next;
        if *next == NONE {
            list.last = NONE;
            self.firsts.remove(list.leaf);
        } else {
            self.firsts.change(list.leaf, (*next_at, *next_number));
        }
        arriving
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(in_flight: &mut InFlight, host: HostPlace, at: u64, seq: u32) {
        let place = in_flight.put(host, (Time(at), Number(seq)));
        *place = Arriving::Segment(PredictedHeader { seq, ..PredictedHeader::default() });
    }

    /// Takes what reaches a host next, anywhere: when, the host and the segment.
    fn take(in_flight: &mut InFlight) -> (u64, HostPlace, u32) {
        let ((at, _), host) = in_flight.next().expect("something is on its way");
        match in_flight.take(host) {
            Arriving::Segment(segment) => (at.0, host, segment.seq),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_host_is_reached_in_order_and_among_hosts_the_first_instant_comes_first() {
        let mut in_flight = InFlight::new();
        let hosts = [HostPlace(0), HostPlace(1)];
        hosts.iter().for_each(|_| in_flight.attach());
        put(&mut in_flight, hosts[0], 10, 1);
        put(&mut in_flight, hosts[1], 5, 2);
        put(&mut in_flight, hosts[0], 20, 3);
        assert_eq!(take(&mut in_flight), (5, hosts[1], 2));
        assert_eq!(take(&mut in_flight), (10, hosts[0], 1));
        put(&mut in_flight, hosts[1], 20, 4);
        put(&mut in_flight, hosts[0], 20, 5);
        assert_eq!(take(&mut in_flight), (20, hosts[0], 3));
        assert_eq!(take(&mut in_flight), (20, hosts[1], 4));
        assert_eq!(take(&mut in_flight), (20, hosts[0], 5));
        assert_eq!(in_flight.next(), None);
        put(&mut in_flight, hosts[1], 30, 6);
        assert_eq!(take(&mut in_flight), (30, hosts[1], 6));
    }

    #[test]
    fn a_segment_takes_no_more_room_than_a_line_of_the_cache() {
        assert!(size_of::<Entry>() <= 64, "{} bytes", size_of::<Entry>());
    }
}
