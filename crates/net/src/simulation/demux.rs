//! Demultiplexer: maps a frame to its host, and a flow to the attachment point of its host.
//!
//! The key is the address, and also the ports if a host has many flows. Each partition has entries
//! for its own hosts. The table is separate from the hosts because hosts are large. A lookup long
//! before a frame's arrival must not load its host into the cache.

use super::partition::{HostId, HostPlace};
use crate::config::Addresses;
use crate::wire::{
    AbstractSegment, EPHEMERAL, IpAddress, Role, addressee, destination, flow_in_group, flow_of,
    flow_of_ports, untagged_ipv4_destination,
};
use sojourn_packet::{Packet, Time};
use std::collections::BTreeMap;

/// The access link of a host that is in another partition.
pub(super) const ELSEWHERE: u16 = u16::MAX;

/// Finds the host of a frame by its addresses and ports.
pub(super) struct Demux {
    /// Addresses behind each access link.
    access_links: Vec<Addresses>,
    /// Whether a flow has an end there, by access link.
    in_use: Vec<bool>,
    /// By flow, both ends of each.
    attached: Vec<[Attachment; 2]>,
    /// The ports of the ends that listen, of flows that give them.
    dst_ports: BTreeMap<u32, u16>,
}

/// The attachment of a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attachment {
    pub(super) access: u16,
    /// The other end opens the connection to this one.
    pub(super) listens: bool,
    /// Place of the host.
    pub(super) place: HostPlace,
    /// From its access link to the host.
    pub(super) delay: Time,
}

impl Attachment {
    /// Of a host in another partition.
    pub(super) const ELSEWHERE: Attachment = Attachment {
        access: ELSEWHERE,
        listens: false,
        place: HostPlace(u32::MAX),
        delay: Time::ZERO,
    };
}

impl Demux {
    pub(super) fn new() -> Demux {
        Demux {
            access_links: Vec::new(),
            in_use: Vec::new(),
            attached: Vec::new(),
            dst_ports: BTreeMap::new(),
        }
    }

    /// Another access link, behind those that are there.
    pub(super) fn open(&mut self, hosts: Addresses) {
        self.access_links.push(hosts);
        self.in_use.push(false);
    }

    /// The ends of a flow, which come in the order of flows, and the port that it gives.
    pub(super) fn attach(&mut self, flow: u32, ends: [Attachment; 2], dst_port: Option<u16>) {
        self.dst_ports.extend(dst_port.map(|port| (flow, port)));
        self.attached.resize(flow as usize, [Attachment::ELSEWHERE; 2]);
        self.attached.push(ends);
        for end in ends {
            if let Some(in_use) = self.in_use.get_mut(usize::from(end.access)) {
                *in_use = true;
            }
        }
    }

    /// An end that is here has another place.
    pub(super) fn move_to(&mut self, id: HostId, place: HostPlace) {
        if let Some(ends) = self.attached.get_mut(id.flow() as usize) {
            ends[usize::from(id.receives())].place = place;
        }
    }

    /// The host that a frame is for, if it is one behind that link, and the delay up to it. The two
    /// hosts of a flow are never behind the same link.
    #[inline(always)]
    pub(super) fn find(&self, packet: &Packet, access: u16) -> Option<(HostPlace, Time)> {
        self.end(self.flow(packet, access)?, access)
    }

    /// True if a frame is for the host behind that link and the host has no flow: it only listens, as a
    /// collector of telemetry does.
    pub(super) fn listens(&self, packet: &Packet, access: u16) -> bool {
        let Some(Addresses::Own { ipv4, ipv6 }) = self.access_links.get(usize::from(access)) else {
            return false;
        };
        let is_its = match addressee(packet) {
            Some((IpAddress::V4(address), _)) => address == *ipv4,
            Some((IpAddress::V6(address), _)) => address == *ipv6,
            None => false,
        };
        is_its && self.in_use.get(usize::from(access)) == Some(&false)
    }

    /// The same for a frame that cannot have been changed or misrouted: the local end of its flow.
    #[inline]
    pub(super) fn end(&self, flow: u32, access: u16) -> Option<(HostPlace, Time)> {
        let end = self.attachment(flow, access)?;
        Some((end.place, end.delay))
    }

    /// The same of a frame that may have been led astray and be a compact segment behind an Ethernet header.
    #[inline(always)]
    pub(super) fn find_framed(&self, packet: &Packet, access: u16) -> Option<(HostPlace, Time)> {
        match AbstractSegment::framed(packet) {
            Some(segment) => self.end_with(packet.flow.0, segment.ports(), access),
            None => self.find_other(packet, access),
        }
    }

    /// The same of one that is none without ranges.
    #[inline(never)]
    fn find_other(&self, packet: &Packet, access: u16) -> Option<(HostPlace, Time)> {
        match AbstractSegment::framed_with_ranges(packet) {
            Some((segment, _)) => self.end_with(packet.flow.0, segment.ports, access),
            None => self.find(packet, access),
        }
    }

    /// The end of a flow that a segment with these ports, source and destination, is for, if it is there.
    #[inline(always)]
    fn end_with(&self, flow: u32, ports: (u16, u16), access: u16) -> Option<(HostPlace, Time)> {
        let end = self.attachment(flow, access)?;
        // The listener has the lower port.
        (end.listens == (ports.0 > ports.1)).then_some((end.place, end.delay))
    }

    /// The end of a flow that is behind that link.
    #[inline(always)]
    fn attachment(&self, flow: u32, access: u16) -> Option<&Attachment> {
        let pair = self.attached.get(flow as usize)?;
        let end = &pair[usize::from(pair[0].access != access)];
        (end.access == access).then_some(end)
    }

    /// Flow of a frame for a host behind that link.
    #[inline(always)]
    fn flow(&self, packet: &Packet, access: u16) -> Option<u32> {
        match self.access_links.get(usize::from(access))? {
            Addresses::Own { ipv4, ipv6 } => {
                let (address, ports) = addressee(packet)?;
                let is_its = match address {
                    IpAddress::V4(address) => address == *ipv4,
                    IpAddress::V6(address) => address == *ipv6,
                };
                if is_its { self.flow_of_ports(ports) } else { None }
            }
            Addresses::Clients => flow_at(packet, Role::Client),
            Addresses::Servers => flow_at(packet, Role::Server),
        }
    }
}

impl Demux {
    /// The flow with these ports, source and destination.
    #[inline(always)]
    fn flow_of_ports(&self, ports: (u16, u16)) -> Option<u32> {
        if self.dst_ports.is_empty() { flow_of_ports(ports) } else { self.flow_by_port(ports) }
    }

    /// The same where flows give ports. The port of the end that opens says the flow then.
    #[inline(never)]
    fn flow_by_port(&self, ports: (u16, u16)) -> Option<u32> {
        let (client, server) = (ports.0.max(ports.1), ports.0.min(ports.1));
        let flow = u32::from(client.checked_sub(EPHEMERAL.0)?);
        match self.dst_ports.get(&flow) {
            Some(port) if *port == server => Some(flow),
            _ => flow_of_ports(ports).filter(|flow| !self.dst_ports.contains_key(flow)),
        }
    }
}

/// The flow of a frame for a host of a group.
#[inline(always)]
fn flow_at(packet: &Packet, role: Role) -> Option<u32> {
    match untagged_ipv4_destination(packet) {
        Some(address) => flow_in_group(address, role),
        None => any_flow_at(packet, role),
    }
}

/// The same of any frame.
#[inline(never)]
fn any_flow_at(packet: &Packet, role: Role) -> Option<u32> {
    let (flow, found) = flow_of(destination(packet)?)?;
    (found == role).then_some(flow)
}
