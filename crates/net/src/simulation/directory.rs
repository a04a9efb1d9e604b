//! Which host a frame is for: by its addresses, and where hosts have many flows by its ports.

use super::layout::{Layout, RECEIVING_SIDE, SENDING_SIDE};
use super::{HostId, Station};
use crate::wire::{IpAddress, Role, addressee, destination, flow_of, flow_of_ports};
use sojourn_packet::Packet;
use std::collections::HashMap;

/// How frames find their hosts.
pub(super) enum Directory {
    /// Each flow has two addresses of its own, which tell its number.
    ByFlow,
    /// Each side is one host with addresses of its own; ports tell the flow.
    ByHost(HashMap<IpAddress, u16>),
}

impl Directory {
    pub(super) fn new(layout: &Layout) -> Directory {
        if layout.hosts.is_empty() {
            return Directory::ByFlow;
        }
        let addresses = layout.hosts.iter().zip(0..).flat_map(|(host, side)| {
            [(IpAddress::V4(host.ipv4), side), (IpAddress::V6(host.ipv6), side)]
        });
        Directory::ByHost(addresses.collect())
    }

    /// The host that a frame is for, if it is one of that side. The two hosts of a flow are never
    /// on the same side.
    pub(super) fn find(&self, packet: &Packet, side: u16, stations: &[Station]) -> Option<HostId> {
        let (flow, home) = match self {
            Directory::ByFlow => {
                let (flow, net) = flow_of(destination(packet)?)?;
                (flow, if net == Role::Client { SENDING_SIDE } else { RECEIVING_SIDE })
            }
            Directory::ByHost(hosts) => {
                let (address, ports) = addressee(packet)?;
                (flow_of_ports(ports)?, *hosts.get(&address)?)
            }
        };
        let first = 2 * flow as usize;
        let pair = stations.get(first..first + 2)?;
        let place = pair.iter().position(|station| station.side == home && home == side)?;
        Some(HostId((first + place) as u32))
    }
}
