//! Which host a frame is for, by its address, and where one host has many flows by its ports; and
//! where hosts are attached. Kept apart from the hosts, which are large: each frame is looked up
//! long before it arrives, and must not bring its host into the cache for that.

use super::layout::Layout;
use super::region::HostId;
use crate::config::Addresses;
use crate::wire::{IpAddress, addressee, destination, flow_of, flow_of_ports};
use sojourn_packet::{Packet, Time};

/// How frames find their hosts.
pub(super) struct Directory {
    /// Who is behind each access link.
    access_links: Vec<Addresses>,
    /// In the order of [`HostId`].
    attached: Vec<Attachment>,
}

/// Where a host is attached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attachment {
    pub(super) access: u16,
    /// From its access link to the host.
    pub(super) delay: Time,
}

impl Directory {
    pub(super) fn new(layout: &Layout, attached: Vec<Attachment>) -> Directory {
        Directory {
            access_links: layout.hosts.iter().map(|host| host.addresses).collect(),
            attached,
        }
    }

    /// Another host, behind those that are there.
    pub(super) fn attach(&mut self, attachment: Attachment) {
        self.attached.push(attachment);
    }

    /// The host that a frame is for, if it is one behind that link, and the delay up to it. The two
    /// hosts of a flow are never behind the same link.
    pub(super) fn find(&self, packet: &Packet, access: u16) -> Option<(HostId, Time)> {
        self.end(self.flow(packet, access)?, access)
    }

    /// The same of a frame that nobody can have changed on its way, nor led astray: it is for the end
    /// of its flow that is there.
    #[inline]
    pub(super) fn end(&self, flow: u32, access: u16) -> Option<(HostId, Time)> {
        let first = 2 * flow as usize;
        let pair: &[Attachment; 2] = self.attached.get(first..)?.first_chunk()?;
        let place = usize::from(pair[0].access != access);
        let end = pair[place];
        (end.access == access).then_some((HostId((first + place) as u32), end.delay))
    }

    /// The flow of a frame for somebody behind that link.
    fn flow(&self, packet: &Packet, access: u16) -> Option<u32> {
        match self.access_links.get(usize::from(access))? {
            Addresses::Own { ipv4, ipv6 } => {
                let (address, ports) = addressee(packet)?;
                let is_its = match address {
                    IpAddress::V4(address) => address == *ipv4,
                    IpAddress::V6(address) => address == *ipv6,
                };
                if is_its { flow_of_ports(ports) } else { None }
            }
            group => {
                let (flow, role) = flow_of(destination(packet)?)?;
                (role.group() == *group).then_some(flow)
            }
        }
    }
}
