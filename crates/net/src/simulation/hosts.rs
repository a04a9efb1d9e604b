//! The hosts of a run and where they are; everything random about them is drawn here.

use super::layout::{Layout, RECEIVING_SIDE, SENDING_SIDE};
use super::{HostId, Station};
use crate::app::ConstantRate;
use crate::config::{FlowConfig, IpVersion, RunConfig};
use crate::host::{ClientPlan, Host, TcpClient, TcpServer, UdpSink, UdpSource};
use crate::tcp::TcpConfig;
use crate::wire::{Endpoints, MTU, Role, endpoints_of_hosts, flow_endpoints};
use oorandom::Rand64;
use sojourn_packet::{Bytes, Time};

/// Each flow starts up to this much later than configured, drawn from the seed, so that flows do
/// not march in step and seeds differ.
const START_JITTER: Time = Time::from_millis(10);
/// IP and TCP headers without options.
const IPV4_TCP: u32 = 40;
const IPV6_TCP: u32 = 60;

/// All hosts, in the order of [`HostId`].
pub(super) fn stations(config: &RunConfig, layout: &Layout) -> Vec<Station> {
    let mut stations = Vec::with_capacity(2 * config.flows.len());
    for (flow, settings) in (0..).zip(&config.flows) {
        let common = settings.common();
        let place = Place::of(layout, flow, settings);
        let (client, server) = hosts(config.seed, flow, settings, &place.ends);
        let forward = common.rtt / 2;
        let backward = common.rtt - forward;
        for (role, host, side, delay) in [
            (Role::Client, client, place.client, backward),
            (Role::Server, server, place.server, forward),
        ] {
            debug_assert_eq!(HostId::new(flow, role).0 as usize, stations.len());
            stations.push(Station { host, side, delay: Time(delay), timer: Time::MAX });
        }
    }
    stations
}

/// Where a flow's two hosts are attached, and their addresses.
struct Place {
    client: u16,
    server: u16,
    ends: Endpoints,
}

impl Place {
    fn of(layout: &Layout, flow: u32, settings: &FlowConfig) -> Place {
        let common = settings.common();
        if layout.hosts.is_empty() {
            let ends = flow_endpoints(flow, common.ip_version);
            return match common.reverse {
                false => Place { client: SENDING_SIDE, server: RECEIVING_SIDE, ends },
                true => Place { client: RECEIVING_SIDE, server: SENDING_SIDE, ends: ends.turned() },
            };
        }
        // The configuration was checked: the names are there.
        let find = |name: Option<&str>| {
            layout.hosts.iter().position(|host| Some(host.name.as_str()) == name).unwrap_or(0)
        };
        let (from, to) = (find(common.from), find(common.to));
        let address = |host: usize| (layout.hosts[host].ipv4, layout.hosts[host].ipv6);
        let ends = endpoints_of_hosts(flow, common.ip_version, address(from), address(to));
        Place { client: from as u16, server: to as u16, ends }
    }
}

/// The two hosts of a flow. Each flow draws from a generator of its own (PCG, numbered by flow), so
/// that adding a flow leaves the others as they were.
fn hosts(seed: u64, flow: u32, settings: &FlowConfig, ends: &Endpoints) -> (Host, Host) {
    let mut random = Rand64::new_inc(u128::from(seed), u128::from(flow));
    let common = settings.common();
    let start = Time(common.start + random.rand_range(0..START_JITTER.0));
    let stop = common.stop.map(Time);
    let Endpoints { client, server } = ends;
    match settings {
        FlowConfig::Tcp(tcp) => {
            let headers = match tcp.ip_version {
                IpVersion::V4 => IPV4_TCP,
                IpVersion::V6 => IPV6_TCP,
            };
            let mut end = || TcpConfig {
                mss: (MTU - headers) as u16,
                ecn: tcp.ecn,
                congestion_control: tcp.congestion_control,
                segmentation_offload: tcp.segmentation_offload,
                initial_sequence: random.rand_u64() as u32,
                timestamp_offset: random.rand_u64() as u32,
                ..TcpConfig::default()
            };
            let plan = ClientPlan { start, stop, rate_cap: tcp.rate_cap };
            (
                Host::TcpClient(TcpClient::new(end(), plan, client, server)),
                Host::TcpServer(TcpServer::new(end(), server, client)),
            )
        }
        FlowConfig::Udp(udp) => {
            let app = ConstantRate::new(start, stop, udp.rate, Bytes(u64::from(udp.packet_size)));
            (
                Host::UdpSource(UdpSource::new(app, start, udp.packet_size, client, server)),
                Host::UdpSink(UdpSink::new(server, client)),
            )
        }
    }
}
