//! Addresses and ports of a flow, and the flow of given addresses.
//!
//! In a group every flow has a host of its own: clients live in 10.0.0.0/9 and fd00::/64, servers in
//! 10.128.0.0/9 and fd00:0:0:1::/64, the flow's number plus one in the low bits, so that a P4
//! program sees distinct addresses and the simulator finds the flow without a table. For a host with
//! a configured address, the ports identify the flow.

use crate::config::{Addresses, IpVersion};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const SERVER_BIT: u32 = 1 << 23;
const TEN: u32 = 10 << 24;
/// Port on which iperf3 listens.
const SERVER_PORT: u16 = 5201;
/// Linux's range of ephemeral ports begins here and has this many.
pub const EPHEMERAL: (u16, u32) = (32_768, 28_232);

/// The two groups of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Addresses of the usual senders, which open connections.
    Client,
    /// Addresses of the usual receivers, which listen.
    Server,
}

impl Role {
    /// The group's addresses.
    pub fn group(self) -> Addresses {
        match self {
            Role::Client => Addresses::Clients,
            Role::Server => Addresses::Servers,
        }
    }
}

/// An address of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpAddress {
    /// IPv4.
    V4(Ipv4Addr),
    /// IPv6.
    V6(Ipv6Addr),
}

/// One end of a flow on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Ethernet address.
    pub mac: [u8; 6],
    /// IP address.
    pub ip: IpAddress,
    /// TCP or UDP port.
    pub port: u16,
}

/// Both ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Endpoints {
    /// The end that sends.
    pub client: Endpoint,
    /// The end that receives.
    pub server: Endpoint,
}

impl Endpoints {
    /// The same flow with another port of the end that listens.
    pub fn listening_at(self, port: u16) -> Endpoints {
        Endpoints { server: Endpoint { port, ..self.server }, ..self }
    }

    /// The same flow with each end in the other's place: the client has the server's address, but
    /// its own port.
    pub fn turned(self) -> Endpoints {
        let client = Endpoint { port: self.client.port, ..self.server };
        let server = Endpoint { port: self.server.port, ..self.client };
        Endpoints { client, server }
    }
}

/// The two ends of flow `flow`, which opens its connection at hosts with the addresses `from`. Its
/// ports encode its number where an address does not.
pub fn endpoints(flow: u32, version: IpVersion, from: Addresses, to: Addresses) -> Endpoints {
    let is_own = |end| matches!(end, Addresses::Own { .. });
    let round = if is_own(from) || is_own(to) { flow / EPHEMERAL.1 } else { 0 };
    Endpoints {
        client: endpoint(flow, from, version, EPHEMERAL.0 + (flow % EPHEMERAL.1) as u16),
        server: endpoint(flow, to, version, SERVER_PORT + round as u16),
    }
}

/// The flow of a frame with these ports, source and destination.
pub fn flow_of_ports((source, destination): (u16, u16)) -> Option<u32> {
    let (client, server) = (source.max(destination), source.min(destination));
    let (low, high) = (client.checked_sub(EPHEMERAL.0)?, server.checked_sub(SERVER_PORT)?);
    let low = Some(u32::from(low)).filter(|low| *low < EPHEMERAL.1)?;
    Some(u32::from(high) * EPHEMERAL.1 + low)
}

/// The two ends of flow `flow` from clients to servers.
///
/// ```
/// use sojourn_net::wire::{Role, flow_endpoints, flow_of};
/// use sojourn_net::config::IpVersion;
/// let ends = flow_endpoints(7, IpVersion::V4);
/// assert_eq!(flow_of(ends.server.ip), Some((7, Role::Server)));
/// ```
pub fn flow_endpoints(flow: u32, version: IpVersion) -> Endpoints {
    endpoints(flow, version, Addresses::Clients, Addresses::Servers)
}

fn endpoint(flow: u32, addresses: Addresses, version: IpVersion, port: u16) -> Endpoint {
    let host = flow + 1;
    let (v4, v6) = match addresses {
        Addresses::Own { ipv4, ipv6 } => (ipv4, ipv6),
        Addresses::Clients => of_group(host, Role::Client),
        Addresses::Servers => of_group(host, Role::Server),
    };
    let ip = match version {
        IpVersion::V4 => IpAddress::V4(v4),
        IpVersion::V6 => IpAddress::V6(v6),
    };
    let [a, b, c, d] = v4.octets();
    Endpoint { mac: [0x02, 0, a, b, c, d], ip, port }
}

/// The addresses of a group's host; those of host 0 are the group's networks.
fn of_group(host: u32, role: Role) -> (Ipv4Addr, Ipv6Addr) {
    let (v4, subnet) = match role {
        Role::Client => (TEN | host, 0),
        Role::Server => (TEN | SERVER_BIT | host, 1),
    };
    let v6 = 0xfd00 << 112 | subnet << 64 | u128::from(host);
    (Ipv4Addr::from_bits(v4), Ipv6Addr::from_bits(v6))
}

/// The networks that a group's addresses are in, as first address and bits.
pub fn networks_of(role: Role) -> [(IpAddr, u8); 2] {
    let (v4, v6) = of_group(0, role);
    [(IpAddr::V4(v4), 9), (IpAddr::V6(v6), 64)]
}

/// The flow of a group's host that has this address, if there can be one.
#[inline(always)]
pub fn flow_in_group(ip: Ipv4Addr, role: Role) -> Option<u32> {
    let network = match role {
        Role::Client => TEN,
        Role::Server => TEN | SERVER_BIT,
    };
    let host = ip.to_bits() ^ network;
    (host < SERVER_BIT).then(|| host.checked_sub(1)).flatten()
}

/// The flow and role of the host that has this address, if any flow number can have it.
pub fn flow_of(ip: IpAddress) -> Option<(u32, Role)> {
    match ip {
        IpAddress::V4(ip) => [Role::Client, Role::Server]
            .into_iter()
            .find_map(|role| Some((flow_in_group(ip, role)?, role))),
        IpAddress::V6(ip) => {
            let bits = ip.to_bits();
            let subnet = (bits >> 64) as u64;
            if bits >> 112 != 0xfd00 || subnet & 0xffff_ffff_ffff > 1 {
                return None;
            }
            let host = u32::try_from(bits as u64).ok()?;
            let role = if subnet & 1 == 1 { Role::Server } else { Role::Client };
            Some((host.checked_sub(1)?, role))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_flow_is_found_again_from_either_address(flow in 0u32..1_000_000, six: bool) {
            let version = if six { IpVersion::V6 } else { IpVersion::V4 };
            let ends = flow_endpoints(flow, version);
            prop_assert_eq!(flow_of(ends.client.ip), Some((flow, Role::Client)));
            prop_assert_eq!(flow_of(ends.server.ip), Some((flow, Role::Server)));
        }
    }

    #[test]
    fn between_named_hosts_the_ports_identify_the_flow() {
        let host = |last: u8| {
            let six = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, u16::from(last));
            Addresses::Own { ipv4: Ipv4Addr::new(10, 0, 1, last), ipv6: six }
        };
        for flow in [0, 1, 28_231, 28_232, 500_000] {
            let ends = endpoints(flow, IpVersion::V4, host(1), host(2));
            let (client, server) = (ends.client.port, ends.server.port);
            assert_eq!(flow_of_ports((client, server)), Some(flow));
            assert_eq!(flow_of_ports((server, client)), Some(flow));
        }
        assert_eq!(flow_of_ports((53, 53)), None);
    }

    #[test]
    fn an_address_outside_the_two_networks_belongs_to_no_host() {
        assert_eq!(flow_of(IpAddress::V4(Ipv4Addr::new(192, 168, 0, 1))), None);
        assert_eq!(flow_of(IpAddress::V4(Ipv4Addr::new(10, 0, 0, 0))), None);
        assert_eq!(flow_of(IpAddress::V6(Ipv6Addr::LOCALHOST)), None);
    }
}
