//! Which host a frame is for, by its addresses, and where hosts have many flows by its ports; and
//! where hosts are attached. Kept apart from the hosts, which are large: each frame is looked up
//! long before it arrives, and must not bring its host into the cache for that.

use super::HostId;
use super::layout::{Layout, RECEIVING_SIDE, SENDING_SIDE};
use crate::wire::{IpAddress, Role, addressee, destination, flow_of, flow_of_ports};
use sojourn_packet::{Packet, Time};
use std::collections::HashMap;

/// How frames find their hosts.
pub(super) struct Directory {
    names: Names,
    /// In the order of [`HostId`].
    attached: Vec<Attachment>,
}

/// What tells the host.
enum Names {
    /// Each flow has two addresses of its own, which tell its number.
    ByFlow,
    /// Each side is one host with addresses of its own; ports tell the flow.
    ByHost(HashMap<IpAddress, u16>),
}

/// Where a host is attached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attachment {
    pub(super) side: u16,
    /// From its side's link to the host.
    pub(super) delay: Time,
}

impl Directory {
    pub(super) fn new(layout: &Layout, attached: Vec<Attachment>) -> Directory {
        if layout.hosts.is_empty() {
            return Directory { names: Names::ByFlow, attached };
        }
        let addresses = layout.hosts.iter().zip(0..).flat_map(|(host, side)| {
            [(IpAddress::V4(host.ipv4), side), (IpAddress::V6(host.ipv6), side)]
        });
        Directory { names: Names::ByHost(addresses.collect()), attached }
    }

    /// Another host, behind those that are there.
    pub(super) fn attach(&mut self, attachment: Attachment) {
        self.attached.push(attachment);
    }

    /// The host that a frame is for, if it is one of that side, and the delay up to it. The two
    /// hosts of a flow are never on the same side.
    pub(super) fn find(&self, packet: &Packet, side: u16) -> Option<(HostId, Time)> {
        let (flow, home) = match &self.names {
            Names::ByFlow => {
                let (flow, net) = flow_of(destination(packet)?)?;
                (flow, if net == Role::Client { SENDING_SIDE } else { RECEIVING_SIDE })
            }
            Names::ByHost(hosts) => {
                let (address, ports) = addressee(packet)?;
                (flow_of_ports(ports)?, *hosts.get(&address)?)
            }
        };
        let first = 2 * flow as usize;
        let pair = self.attached.get(first..first + 2)?;
        let place = pair.iter().position(|at| at.side == home && home == side)?;
        Some((HostId((first + place) as u32), pair[place].delay))
    }
}
