//! Network interface of a host: numbers its packets, and passes them through the shaper and the
//! delay to the link. It computes their arrival times at the switch.

use super::events::Event;
use super::node::{AccessLink, Door, HostState};
use super::packet_ids::Numbers;
use super::slab::PacketSlab;
use crate::event::{EventQueue, Number};
use crate::host::Outlet;
use sojourn_packet::{FlowId, HeaderBytes, Packet, Time};
use std::collections::VecDeque;

/// What the hosts of a region send through.
pub(super) struct Sending {
    pub(super) access_links: Vec<AccessLink>,
    pub(super) slab: PacketSlab,
    pub(super) numbers: Numbers,
    /// Frames that have gone onto links since somebody looked.
    pub(super) on_links: VecDeque<OnLink>,
    /// Packets that a host's own shaper or delay had no room for.
    pub(super) dropped: u64,
}

impl Sending {
    /// No link yet.
    pub(super) fn new(slab: PacketSlab, numbers: Numbers) -> Sending {
        let (access_links, on_links) = (Vec::new(), VecDeque::new());
        Sending { access_links, slab, numbers, on_links, dropped: 0 }
    }
}

/// A frame on its way to a switch.
pub(super) struct OnLink {
    /// When it is handed in there, and its place among the events of that instant.
    pub(super) at: Time,
    pub(super) number: Number,
    pub(super) door: Door,
    pub(super) packet: Packet,
}

/// Where the frames of one host go at one instant.
pub(super) struct HostOutlet<'a> {
    pub(super) now: Time,
    pub(super) flow: u32,
    /// Of what it sends, in front of its link.
    pub(super) delay: Time,
    pub(super) access: u16,
    pub(super) sending: &'a mut Sending,
    pub(super) events: &'a mut EventQueue<Event>,
}

impl HostState {
    /// Where its frames go at an instant.
    #[inline(always)]
    pub(super) fn outlet<'a>(
        &self,
        now: Time,
        sending: &'a mut Sending,
        events: &'a mut EventQueue<Event>,
    ) -> HostOutlet<'a> {
        let HostState { id, delay, access, .. } = *self;
        HostOutlet { now, flow: id.flow(), delay, access, sending, events }
    }
}

impl Outlet for HostOutlet<'_> {
    #[inline]
    fn buffer(&mut self) -> HeaderBytes {
        self.sending.slab.buffer()
    }

    #[inline(always)]
    fn send(&mut self, bytes: HeaderBytes, zeros: u32) {
        let Sending { access_links, slab, numbers, on_links, dropped } = &mut *self.sending;
        let (id, flow) = (numbers.next(self.now), FlowId(self.flow));
        let packet = Packet { id, flow, bytes, zeros };
        let link = &mut access_links[usize::from(self.access)];
        match link.departures.leave(self.now, packet.len(), self.flow as usize, self.delay) {
            Some(at) if at == self.now && link.random.is_some() => {
                self.sending.carry_random(self.now, self.access, packet, self.events);
            }
            Some(at) if at == self.now => link.carry(self.now, packet, on_links, self.events),
            Some(at) => {
                let slot = slab.put(packet);
                self.events.push(at, Event::Departs(self.access, slot));
            }
            None => {
                *dropped += 1;
                slab.recycle(packet.bytes);
            }
        }
    }
}

impl AccessLink {
    /// A frame that has waited goes onto the link to the switch.
    #[inline(never)]
    pub(super) fn carry_later(
        &mut self,
        now: Time,
        packet: Packet,
        on_links: &mut VecDeque<OnLink>,
        events: &mut EventQueue<Event>,
    ) {
        self.carry(now, packet, on_links, events);
    }

    /// A frame goes onto the link to the switch.
    #[inline(always)]
    fn carry(
        &mut self,
        now: Time,
        packet: Packet,
        on_links: &mut VecDeque<OnLink>,
        events: &mut EventQueue<Event>,
    ) {
        let at = self.to_switch.send(now, packet.len()) + self.passage;
        on_links.push_back(OnLink { at, number: events.take_number(), door: self.door, packet });
    }
}
