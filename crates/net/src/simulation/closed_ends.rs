//! Ends of transfers that are over, and the places that they leave to others.
//!
//! An end that is over stays in its place for [`Host::linger`], and leaves it at the next beginning of a
//! transfer. Then a [`ClosedEnd`] with its addresses remains, a tenth of its size, and its flow's counts
//! are those of its source. A frame that still arrives gives it a place again. It must not depend on TCP
//! beyond that.

use super::demux::Demux;
use super::in_flight::InFlight;
use super::node::HostState;
use super::partition::{HostId, HostPlace, Partition};
use crate::host::{ClosedEnd, Host};
use crate::report::FlowReport;
use sojourn_packet::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Of a place among those that remain, the upper bit.
const REMAINS: u32 = 1 << 31;

/// An end that has left its place.
struct Remains {
    end: ClosedEnd,
    id: HostId,
    source: u32,
    access: u16,
    delay: Time,
}

/// The ends of a partition that are over.
#[derive(Default)]
pub(super) struct ClosedEnds {
    /// When each may leave its place, the first on top.
    leaving: BinaryHeap<Reverse<(Time, u32)>>,
    /// Places that were left.
    places: Vec<HostPlace>,
    remains: Vec<Option<Remains>>,
    free: Vec<u32>,
    /// The counts of those that have left, by the source of their flows.
    pub(super) totals: BTreeMap<u32, FlowReport>,
}

impl ClosedEnds {
    /// Gives a host a place: one that another has left, or one behind all.
    pub(super) fn seat(
        &mut self,
        state: HostState,
        states: &mut Vec<HostState>,
        in_flight: &mut InFlight,
    ) -> HostPlace {
        if let Some(place) = self.places.pop() {
            states[place.0 as usize] = state;
            return place;
        }
        in_flight.attach();
        states.push(state);
        HostPlace(states.len() as u32 - 1)
    }

    /// The place of a host that a frame is for, which gets one again if it had left it.
    #[inline(always)]
    pub(super) fn seated(
        &mut self,
        place: HostPlace,
        states: &mut Vec<HostState>,
        in_flight: &mut InFlight,
        demux: &mut Demux,
    ) -> HostPlace {
        if place.0 & REMAINS == 0 {
            return place;
        }
        self.seat_again(place, states, in_flight, demux)
    }

    #[cold]
    #[inline(never)]
    fn seat_again(
        &mut self,
        place: HostPlace,
        states: &mut Vec<HostState>,
        in_flight: &mut InFlight,
        demux: &mut Demux,
    ) -> HostPlace {
        let index = place.0 & !REMAINS;
        let Some(Remains { end, id, source, access, delay }) = self.remains[index as usize].take()
        else {
            return place;
        };
        self.free.push(index);
        let host = Host::Closed(end);
        let (timer, leaves) = (Time::MAX, Time::MAX);
        let state = HostState { host, id, source, access, delay, timer, leaves };
        let place = self.seat(state, states, in_flight);
        demux.move_to(id, place);
        place
    }

    /// Keeps what remains of an end; its place from here on.
    fn keep(&mut self, remains: Remains) -> HostPlace {
        let index = match self.free.pop() {
            Some(index) => {
                self.remains[index as usize] = Some(remains);
                index
            }
            None => {
                self.remains.push(Some(remains));
                self.remains.len() as u32 - 1
            }
        };
        HostPlace(REMAINS | index)
    }
}

impl Partition {
    /// A host that has no timer has heard a frame: if it is over, it leaves its place some time after.
    #[inline(never)]
    pub(super) fn note_quiet(&mut self, host: HostPlace) {
        let state = &mut self.host_states[host.0 as usize];
        let Some(linger) = state.host.linger() else { return };
        let leaves = self.now + linger;
        if std::mem::replace(&mut state.leaves, leaves) == Time::MAX {
            self.closed_ends.leaving.push(Reverse((leaves, host.0)));
        }
    }

    /// The ends that have been quiet for long enough leave their places.
    pub(super) fn release_closed(&mut self) {
        while let Some(Reverse((at, host))) = self.closed_ends.leaving.peek().copied()
            && at <= self.now
        {
            self.closed_ends.leaving.pop();
            let state = &mut self.host_states[host as usize];
            let waits = state.timer < Time::MAX || self.in_flight.is_on_its_way(HostPlace(host));
            match state.host.linger() {
                // It has heard something since, or will.
                Some(linger) if waits || state.leaves > at => {
                    state.leaves = state.leaves.max(if waits { self.now + linger } else { at });
                    self.closed_ends.leaving.push(Reverse((state.leaves, host)));
                }
                Some(_) => self.release(HostPlace(host)),
                None => state.leaves = Time::MAX,
            }
        }
    }

    fn release(&mut self, place: HostPlace) {
        let Partition { now, host_states, demux, closed_ends, .. } = self;
        let state = &mut host_states[place.0 as usize];
        let HostState { id, source, access, delay, .. } = *state;
        let host = std::mem::replace(&mut state.host, Host::Idle);
        state.leaves = Time::MAX;
        closed_ends.totals.entry(source).or_default().add(&host_totals(&host, id, *now));
        if let Some(end) = host.into_closed() {
            demux.move_to(id, closed_ends.keep(Remains { end, id, source, access, delay }));
            closed_ends.places.push(place);
        }
    }
}

/// The counts of a host: of one that sends what it has sent, of one that receives what has arrived.
pub(super) fn host_totals(host: &Host, id: HostId, now: Time) -> FlowReport {
    match id.receives() {
        true => FlowReport { delivered: host.delivered(), ..FlowReport::default() },
        false => host.sample(now).totals,
    }
}
