//! Network interface of a host: numbers its packets, and passes them through the shaper and the
//! delay to the link. It computes their arrival times at the switch.

use super::events::Event;
use super::node::{AccessLink, HostState, PortRef};
use super::packet_ids::PacketIds;
use super::slab::PacketSlab;
use crate::event::{EventQueue, Number};
use crate::host::FrameSink;
use sojourn_packet::{FlowId, HeaderBytes, Packet, Time};
use std::collections::VecDeque;

/// The send path of the hosts of a partition.
pub(super) struct SendPath {
    pub(super) access_links: Vec<AccessLink>,
    pub(super) slab: PacketSlab,
    pub(super) numbers: PacketIds,
    /// Frames that have gone onto links since the last collection.
    pub(super) on_links: VecDeque<OnLink>,
    /// Packets that a host's own shaper or delay had no room for.
    pub(super) dropped: u64,
}

impl SendPath {
    /// No link yet.
    pub(super) fn new(slab: PacketSlab, numbers: PacketIds) -> SendPath {
        let (access_links, on_links) = (Vec::new(), VecDeque::new());
        SendPath { access_links, slab, numbers, on_links, dropped: 0 }
    }
}

/// A frame on its way to a switch.
pub(super) struct OnLink {
    /// Time of its delivery, and its order among the events of that time.
    pub(super) at: Time,
    pub(super) number: Number,
    pub(super) port_ref: PortRef,
    pub(super) packet: Packet,
}

/// The network interface of one host at one instant.
pub(super) struct HostNic<'a> {
    pub(super) now: Time,
    pub(super) flow: u32,
    /// Of what it sends, in front of its link.
    pub(super) delay: Time,
    pub(super) access: u16,
    pub(super) send_path: &'a mut SendPath,
    pub(super) events: &'a mut EventQueue<Event>,
}

impl HostState {
    /// Destination of its frames at a given time.
    #[inline(always)]
    pub(super) fn outlet<'a>(
        &self,
        now: Time,
        send_path: &'a mut SendPath,
        events: &'a mut EventQueue<Event>,
    ) -> HostNic<'a> {
        let HostState { id, delay, access, .. } = *self;
        HostNic { now, flow: id.flow(), delay, access, send_path, events }
    }
}

impl FrameSink for HostNic<'_> {
    #[inline]
    fn buffer(&mut self) -> HeaderBytes {
        self.send_path.slab.buffer()
    }

    #[inline(always)]
    fn send(&mut self, bytes: HeaderBytes, zeros: u32) {
        let SendPath { access_links, slab, numbers, on_links, dropped } = &mut *self.send_path;
        let (id, flow) = (numbers.next(self.now), FlowId(self.flow));
        let packet = Packet { id, flow, bytes, zeros };
        let link = &mut access_links[usize::from(self.access)];
        match link.qdisc.enqueue(self.now, packet.len(), self.flow as usize, self.delay) {
            Some(at) if at == self.now && link.random.is_some() => {
                self.send_path.carry_random(self.now, self.access, packet, self.events);
            }
            Some(at) if at == self.now => link.transmit(self.now, packet, on_links, self.events),
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
        self.transmit(now, packet, on_links, events);
    }

    /// A frame goes onto the link to the switch.
    #[inline(always)]
    fn transmit(
        &mut self,
        now: Time,
        packet: Packet,
        on_links: &mut VecDeque<OnLink>,
        events: &mut EventQueue<Event>,
    ) {
        let at = self.to_switch.send(now, packet.len()) + self.passage;
        on_links.push_back(OnLink {
            at,
            number: events.take_number(),
            port_ref: self.port_ref,
            packet,
        });
    }
}
