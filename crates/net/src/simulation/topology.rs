//! From a configuration to a switch, two sides and the hosts; everything random is drawn here.

use super::{HostId, RECEIVERS, RECIRCULATION, SENDERS, Side, Station};
use crate::app::ConstantRate;
use crate::config::{Aqm, ConfigError, FlowConfig, IpVersion, NativeAqm, RunConfig};
use crate::host::{ClientPlan, Host, TcpClient, TcpServer, UdpSink, UdpSource};
use crate::link::Link;
use crate::tcp::TcpConfig;
use crate::wire::{Endpoints, MTU, Role, flow_endpoints};
use oorandom::Rand64;
use sojourn_packet::{Bytes, Rate, Time};
use sojourn_switch::tm::shaper::ShaperConfig;
use sojourn_switch::{
    PortConfig, PortId, QueueConfig, Switch, SwitchConfig, SwitchProgram, cells_for_bytes,
    discipline,
};
use sojourn_targets::DataPlane;
use std::collections::BTreeMap;

/// Each flow starts up to this much later than configured, drawn from the seed, so that flows do
/// not march in step and seeds differ.
const START_JITTER: Time = Time::from_millis(10);
/// What the disciplines that draw random numbers call the parameter they start from.
const SEED: &str = "seed";
/// IP and TCP headers without options.
const IPV4_TCP: u32 = 40;
const IPV6_TCP: u32 = 60;

/// The switch with its three ports; the bottleneck is shaped and observed.
pub(super) fn switch(
    config: &RunConfig,
    plane: Option<Box<dyn DataPlane>>,
) -> Result<Switch, ConfigError> {
    let section = &config.switch;
    let speed = Rate(section.port_speed);
    let limit = cells_for_bytes(Bytes(section.queue_limit));
    let queues = vec![QueueConfig { limit, ..QueueConfig::default() }];
    let front = |id| PortConfig { queues: queues.clone(), ..PortConfig::front(id, speed) };
    let bottleneck = PortConfig {
        shaper: (section.rate < section.port_speed)
            .then(|| ShaperConfig::bits(Rate(section.rate), section.burst)),
        observed: true,
        capture: config.capture,
        ..front(RECEIVERS)
    };
    let recirculation = PortConfig::recirculation(
        RECIRCULATION,
        Rate(section.recirculation_rate),
        Time(section.recirculation_latency),
    );
    let mut switch = SwitchConfig {
        ports: vec![front(SENDERS), bottleneck, recirculation],
        ingress_latency: Time(section.ingress_latency),
        egress_latency: Time(section.egress_latency),
        ..SwitchConfig::default()
    };
    // The queue's own limit is what drops, however large it was asked to be.
    switch.cells = switch.cells.max(limit.saturating_mul(3));
    if let Aqm::P4(p4) = &config.aqm {
        let architecture = plane.as_ref().map(|plane| plane.architecture()).unwrap_or_default();
        crate::controlled::configure(&mut switch, &p4.control, architecture);
    }
    let refuse = |error: &dyn std::fmt::Display| ConfigError::Switch(error.to_string());
    Switch::new(switch, program(config, plane)?).map_err(|error| refuse(&error))
}

fn program(
    config: &RunConfig,
    plane: Option<Box<dyn DataPlane>>,
) -> Result<SwitchProgram, ConfigError> {
    match (&config.aqm, plane) {
        (Aqm::P4(_), Some(plane)) => Ok(SwitchProgram::P4(plane)),
        (Aqm::P4(_), None) => Err(ConfigError::PlaneMissing),
        (Aqm::Native(native), _) => {
            let discipline = discipline::build(&native.name, &parameters(native, config.seed))
                .map_err(|error| ConfigError::Switch(error.to_string()))?;
            Ok(SwitchProgram::Native {
                forwarding: BTreeMap::from([(SENDERS, RECEIVERS), (RECEIVERS, SENDERS)]),
                disciplines: BTreeMap::from([(RECEIVERS, discipline)]),
            })
        }
    }
}

/// What the discipline is told. One that draws random numbers draws them from the run's seed, unless
/// it was given a seed of its own.
fn parameters(native: &NativeAqm, run_seed: u64) -> Vec<(&str, u64)> {
    let mut parameters: Vec<_> =
        native.parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let registered = discipline::REGISTERED.iter().find(|d| d.name == native.name);
    let takes_seed = registered.is_some_and(|d| d.parameters.iter().any(|p| p.name == SEED));
    if takes_seed && !native.parameters.contains_key(SEED) {
        parameters.push((SEED, run_seed));
    }
    parameters
}

/// One side's links.
pub(super) fn side(config: &RunConfig, port: PortId) -> Side {
    let link = || Link::new(Rate(config.access_rate), Time::ZERO);
    Side { port, to_switch: link(), from_switch: link() }
}

/// All hosts, in the order of [`HostId`].
pub(super) fn stations(config: &RunConfig) -> Vec<Station> {
    let mut stations = Vec::with_capacity(2 * config.flows.len());
    for (flow, settings) in (0..).zip(&config.flows) {
        let (client, server) = hosts(config.seed, flow, settings);
        let forward = settings.rtt() / 2;
        let backward = settings.rtt() - forward;
        for (role, host, delay) in
            [(Role::Client, client, backward), (Role::Server, server, forward)]
        {
            debug_assert_eq!(HostId::new(flow, role).0 as usize, stations.len());
            stations.push(Station { host, delay: Time(delay), timer: Time::MAX });
        }
    }
    stations
}

/// The two hosts of a flow. Each flow draws from a generator of its own (PCG, numbered by flow), so
/// that adding a flow leaves the others as they were.
fn hosts(seed: u64, flow: u32, settings: &FlowConfig) -> (Host, Host) {
    let mut random = Rand64::new_inc(u128::from(seed), u128::from(flow));
    let ends = flow_endpoints(flow, settings.ip_version());
    let start = Time(settings.start() + random.rand_range(0..START_JITTER.0));
    let stop = settings.stop().map(Time);
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
            let Endpoints { client, server } = &ends;
            (
                Host::TcpClient(TcpClient::new(end(), plan, client, server)),
                Host::TcpServer(TcpServer::new(end(), server, client)),
            )
        }
        FlowConfig::Udp(udp) => {
            let app = ConstantRate::new(start, stop, udp.rate, Bytes(u64::from(udp.packet_size)));
            let Endpoints { client, server } = &ends;
            (
                Host::UdpSource(UdpSource::new(app, start, udp.packet_size, client, server)),
                Host::UdpSink(UdpSink::new(server, client)),
            )
        }
    }
}
