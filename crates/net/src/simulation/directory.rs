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

    /// The host that a frame is for, if it is one of that side.
    pub(super) fn find(&self, packet: &Packet, side: u16, stations: &[Station]) -> Option<HostId> {
        let host = match self {
            Directory::ByFlow => {
                let (flow, net) = flow_of(destination(packet)?)?;
                let home = if net == Role::Client { SENDING_SIDE } else { RECEIVING_SIDE };
                // The client of a flow that runs backwards is behind the bottleneck.
                let client = HostId::new(flow, Role::Client);
                let is_client = stations.get(client.0 as usize)?.side == home;
                if is_client { client } else { HostId::new(flow, Role::Server) }
            }
            Directory::ByHost(hosts) => {
                let (address, ports) = addressee(packet)?;
                let home = *hosts.get(&address)?;
                let (flow, role) = flow_of_ports(ports)?;
                let host = HostId::new(flow, role);
                stations.get(host.0 as usize).filter(|station| station.side == home)?;
                host
            }
        };
        stations.get(host.0 as usize).filter(|station| station.side == side).map(|_| host)
    }
}
