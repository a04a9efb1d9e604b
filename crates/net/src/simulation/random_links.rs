//! Frames on links that lose, delay, reorder or duplicate them at random.
//!
//! Frames can overtake each other on such a link. They therefore use neither the list of frames in
//! flight to a host nor the direct delivery at a switch, but are events. A copy has the same bytes
//! and an id of its own. Must not depend on how the random decisions are made.

use super::Simulation;
use super::events::Event;
use super::inter_partition_channel::Channels;
use super::layout::NetemLayout;
use super::nic::SendPath;
use super::node::{LinkEnd, PortLink};
use super::packet_ids::PacketIds;
use super::partition::Partition;
use super::slab::{PacketSlab, Slot};
use crate::event::EventQueue;
use crate::link_netem::{Arrivals, RandomLink};
use crate::report::LinkReport;
use crate::wire::FrameDetail;
use sojourn_packet::{Packet, Time};
use sojourn_switch::Transmit;

/// One direction of a link that treats frames at random.
pub(super) struct RandomWay {
    /// The ends of the direction, and its number among the network's directions.
    layout: NetemLayout,
    link: RandomLink,
}

impl RandomWay {
    /// The direction, if anything happens on it at random.
    pub(super) fn new(layout: Option<&NetemLayout>, seed: u64) -> Option<Box<RandomWay>> {
        let layout = layout?.clone();
        let link = RandomLink::new(layout.given, seed, layout.number);
        Some(Box::new(RandomWay { layout, link }))
    }

    fn report(&self) -> LinkReport {
        let [from, to] = self.layout.ends.clone();
        let counts = self.link.counts();
        LinkReport {
            from,
            to,
            frames: counts.frames,
            lost: counts.lost,
            duplicated: counts.duplicated,
            reordered: counts.reordered,
        }
    }
}

/// The state of a partition that a frame needs from a switch to the end of the link.
pub(super) struct OntoLink<'a> {
    pub(super) now: Time,
    pub(super) slab: &'a mut PacketSlab,
    pub(super) numbers: &'a mut PacketIds,
    pub(super) events: &'a mut EventQueue<Event>,
    pub(super) channels: &'a mut Channels,
}

impl OntoLink<'_> {
    /// A frame goes onto a link behind a port.
    #[inline(never)]
    pub(super) fn carry_random(self, wire: &mut PortLink, transmit: &mut Transmit) {
        let through = wire.through(transmit);
        let Some(random) = &mut wire.random else { return };
        let arrivals = random.link.carry(through, wire.delay);
        let packet = std::mem::take(&mut transmit.packet);
        let OntoLink { now, slab, numbers, events, channels } = self;
        for (at, packet) in frames(arrivals, packet, slab, numbers, now) {
            match wire.end {
                LinkEnd::Switch(port_ref) => {
                    events.push(at + wire.passage, Event::AtSwitch(port_ref, slab.put(packet)));
                }
                // Only links on which nothing overtakes lead to another partition.
                LinkEnd::Partition(way) => {
                    let way = &mut channels.outgoing[usize::from(way)];
                    way.put(at + wire.passage, now, packet, slab);
                }
                LinkEnd::Hosts(access) => {
                    events.push(at, Event::AtHosts(access, slab.put(packet)));
                }
            }
        }
    }
}

impl SendPath {
    /// A host's frame goes onto the link to the switch.
    #[inline(never)]
    pub(super) fn carry_random(
        &mut self,
        now: Time,
        access: u16,
        packet: Packet,
        events: &mut EventQueue<Event>,
    ) {
        let SendPath { access_links, slab, numbers, .. } = self;
        let link = &mut access_links[usize::from(access)];
        let Some(random) = &mut link.random else { return };
        let (through, delay) = link.to_switch.take(now, packet.len());
        let arrivals = random.link.carry(through, delay);
        for (at, packet) in frames(arrivals, packet, slab, numbers, now) {
            events.push(at + link.passage, Event::AtSwitch(link.port_ref, slab.put(packet)));
        }
    }
}

/// The frames that arrive, with their instants: the copy before the frame, as netem queues them.
fn frames(
    Arrivals { frame, copy }: Arrivals,
    packet: Packet,
    slab: &mut PacketSlab,
    numbers: &mut PacketIds,
    now: Time,
) -> impl Iterator<Item = (Time, Packet)> + use<> {
    let copy = copy.map(|at| (at, Packet { id: numbers.next(now), ..packet.clone() }));
    let frame = match frame {
        Some(at) => Some((at, packet)),
        None => {
            slab.recycle(packet.bytes);
            None
        }
    };
    [copy, frame].into_iter().flatten()
}

impl Partition {
    /// A frame is at the end of a link to hosts.
    pub(super) fn at_hosts(&mut self, access: u16, slot: Slot) {
        let Partition {
            now,
            demux,
            send_path,
            in_flight,
            events,
            written,
            counters,
            closed_ends,
            host_states,
            ..
        } = self;
        let slab = &mut send_path.slab;
        let mut packet = slab.take(slot);
        let found = match written {
            FrameDetail::Whole => demux.find(&packet, access),
            FrameDetail::Framed => demux.find_framed(&packet, access),
            FrameDetail::Unsummed | FrameDetail::Compact => demux.end(packet.flow.0, access),
        };
        let Some((host, delay)) = found else {
            counters.stray += 1;
            return;
        };
        let host = closed_ends.seated(host, host_states, in_flight, demux);
        let due = (*now + delay, events.take_number());
        slab.write(&mut packet, *written, in_flight.put(host, due));
    }
}

impl Simulation {
    /// The directions of links that treat frames at random, in the order of the network's links.
    pub(super) fn link_reports(&self) -> Vec<LinkReport> {
        let of_partition = |partition: &'_ Partition| {
            let port_links = partition.nodes.iter().flat_map(|node| &node.port_links);
            let links = partition.send_path.access_links.iter().map(|link| &link.random);
            let random = port_links.map(|wire| &wire.random).chain(links).flatten();
            random.map(|way| (way.layout.number, way.report())).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = self.partitions.iter().flat_map(of_partition).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, report)| report).collect()
    }
}

#[cfg(test)]
mod tests;
