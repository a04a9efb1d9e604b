//! The hosts of a run and where they are; everything random about them is drawn here.

use super::layout::Layout;
use crate::app::{
    Cap, ConstantRate, OnOff, Pace, RandomStream, RequestSchedule, Spans, StreamPurpose,
};
use crate::config::{
    Addresses, CongestionControlName, EcnField, FlowConfig, IpVersion, NetemPlace, Rank,
    RequestsFlow, RunConfig, START_JITTER, TcpChoices, TcpFlow, TransfersFlow, UdpFlow, VoipFlow,
    place_of,
};
use crate::host::{
    ClientPlan, ExchangeSizes, ExpectedTransfer, Host, Requester, Responder, TcpClient, TcpServer,
    UdpApp, UdpSink, UdpSource,
};
use crate::tcp::TcpConfig;
use crate::wire::{Ecn, Endpoint, Endpoints, MTU, Ranks, TELEMETRY_ROOM, endpoints};
use sojourn_packet::{Bytes, Time};

/// IP and TCP headers without options.
const IPV4_TCP: u32 = 40;
const IPV6_TCP: u32 = 60;
/// Ethernet, UDP and RTP headers.
const VOICE_HEADERS: u32 = 14 + 8 + 12;
/// Samples of G.711 in a second; each is a byte.
const SAMPLES: u64 = 8_000;

/// Both hosts of a configured flow, and where they are.
pub(super) fn of_flow(config: &RunConfig, layout: &Layout, flow: u32) -> (FlowHosts, [Host; 2]) {
    let settings = &config.flows[flow as usize];
    let place = FlowHosts::of_flow(config, layout, flow);
    let ends = &place.ends;
    let numbers = StartDraws::new(config.seed, flow, settings.common().start_jitter);
    let hosts = match settings {
        FlowConfig::Tcp(tcp) => bulk(tcp, numbers, ends),
        FlowConfig::Udp(udp) => datagrams(udp, numbers, config.seed, flow, ends),
        FlowConfig::Transfers(_) => (Host::Idle, Host::Idle),
        FlowConfig::Requests(requests) => exchange(requests, numbers, config.seed, flow, ends),
        FlowConfig::Voip(voip) => voice(voip, numbers, ends),
    };
    (place, hosts.into())
}

/// The attachment and the addresses of a flow's two hosts. The first is the host that sends the data.
#[derive(Clone)]
pub(super) struct FlowHosts {
    pub(super) access: [u16; 2],
    /// From the last link to the host.
    pub(super) delay: [Time; 2],
    /// Added to the frames that the host sends, before its link.
    pub(super) send_delay: [Time; 2],
    pub(super) ends: Endpoints,
    /// The port of the end that listens, where the flow gives it.
    pub(super) dst_port: Option<u16>,
}

impl FlowHosts {
    /// Of a configured flow.
    pub(super) fn of_flow(config: &RunConfig, layout: &Layout, flow: u32) -> FlowHosts {
        let settings = &config.flows[flow as usize];
        FlowHosts::new(layout, config.netem.at, flow, settings, settings.common().to)
    }

    /// Of a flow to the host `to`, with the rest as in `settings`.
    pub(super) fn new(
        layout: &Layout,
        at: NetemPlace,
        flow: u32,
        settings: &FlowConfig,
        to: Option<&str>,
    ) -> FlowHosts {
        let common = settings.common();
        let half = Time(common.rtt / 2);
        let (all, none, other) = (Time(common.rtt), Time::ZERO, Time(common.rtt) - half);
        let (forward, backward, send_delay) = match at {
            NetemPlace::Behind => (half, other, [none; 2]),
            NetemPlace::Senders => (none, none, [all, none]),
            NetemPlace::Receivers => (none, none, [none, all]),
            NetemPlace::Both => (none, none, [half, other]),
        };
        // The configuration was checked: the hosts are there.
        let find = |name, group| place_of(layout.hosts, name, group).unwrap_or(0);
        let client = find(common.from, Addresses::Clients);
        let server = find(to, Addresses::Servers);
        let [from, to] = [client, server].map(|host| layout.hosts[host].addresses);
        let ends = endpoints(flow, common.ip_version, from, to);
        FlowHosts {
            access: [client as u16, server as u16],
            delay: [backward, forward],
            send_delay,
            ends: common.dst_port.map_or(ends, |port| ends.listening_at(port)),
            dst_port: common.dst_port,
        }
    }
}

/// Random delay of a flow's start under a seed, unless the flow specifies another span. Another
/// backend that runs the same scenario uses this function, so that its flows start at the same
/// times.
pub fn start_jitter(seed: u64, flow: u32) -> Time {
    jitter_within(seed, flow, START_JITTER)
}

/// Random delay of a flow's start, up to `span` ns.
pub(super) fn jitter_within(seed: u64, flow: u32, span: u64) -> Time {
    StartDraws::new(seed, flow, span).jitter
}

/// The random numbers that a flow begins with: its start and its initial sequence numbers. Each
/// flow draws from a stream of its own, so that adding a flow leaves the others as they were.
struct StartDraws {
    jitter: Time,
    draws: RandomStream,
}

impl StartDraws {
    fn new(seed: u64, flow: u32, span: u64) -> StartDraws {
        let mut draws = RandomStream::new(seed, flow, StreamPurpose::Start);
        StartDraws { jitter: draws.before(Time(span)), draws }
    }

    /// The sequence number and the timestamp that an end begins with.
    fn end(&mut self) -> (u32, u32) {
        (self.draws.word(), self.draws.word())
    }
}

/// The settings of a TCP end, but for what is drawn.
fn tcp_config(
    ip_version: IpVersion,
    congestion_control: CongestionControlName,
    choices: &TcpChoices,
    (sequence, offset): (u32, u32),
) -> TcpConfig {
    let headers = match ip_version {
        IpVersion::V4 => IPV4_TCP,
        IpVersion::V6 => IPV6_TCP,
    };
    let room = if congestion_control.reads_telemetry() { TELEMETRY_ROOM } else { 0 };
    let usual = TcpConfig::default();
    TcpConfig {
        mss: (MTU - headers - room) as u16,
        congestion_control,
        base_rtt: choices.base_rtt.map(Time),
        initial_sequence: sequence,
        timestamp_offset: offset,
        min_rto: choices.min_rto.map_or(usual.min_rto, Time),
        hz: choices.hz.unwrap_or_default(),
        initial_window: choices.initial_window.unwrap_or(usual.initial_window),
        delayed_ack: choices.delayed_ack.map(Time),
        dscp: choices.dscp.unwrap_or(0),
        ..usual
    }
}

/// A long-lived transfer.
fn bulk(tcp: &TcpFlow, mut numbers: StartDraws, ends: &Endpoints) -> (Host, Host) {
    let mut end = || TcpConfig {
        ecn: tcp.ecn,
        segmentation_offload: tcp.segmentation_offload,
        pacing: tcp.pacing,
        ..tcp_config(tcp.ip_version, tcp.congestion_control, &tcp.tcp, numbers.end())
    };
    let (client, server) = (end(), end());
    let plan = ClientPlan {
        start: Time(tcp.start) + numbers.jitter,
        stop: tcp.stop.map(Time),
        cap: tcp.rate_cap.map(|rate| Cap { rate, block: tcp.block }),
        size: None,
    };
    transfer(plan, 0, client, server, ends)
}

fn transfer(
    plan: ClientPlan,
    number: u32,
    client: TcpConfig,
    server: TcpConfig,
    ends: &Endpoints,
) -> (Host, Host) {
    let expected = plan.size.map(|size| ExpectedTransfer { number, size, started: plan.start });
    (
        Host::TcpClient(TcpClient::new(client, plan, &ends.client, &ends.server)),
        Host::TcpServer(TcpServer::new(server, expected, &ends.server, &ends.client)),
    )
}

/// One of the transfers that arrive at random: `size` bytes from `start` on, with a number for its row.
pub(super) fn short_transfer(
    settings: &TransfersFlow,
    (number, start, size): (u32, Time, u64),
    seed: u64,
    flow: u32,
    ends: &Endpoints,
) -> [Host; 2] {
    let mut draws = RandomStream::new(seed, flow, StreamPurpose::Start);
    let mut end = || TcpConfig {
        ecn: settings.ecn,
        segmentation_offload: settings.segmentation_offload,
        ..tcp_config(
            settings.ip_version,
            settings.congestion_control,
            &settings.tcp,
            (draws.word(), draws.word()),
        )
    };
    let (client, server) = (end(), end());
    let ranks = settings.tcp.rank.map(|rank| match rank {
        Rank::Remaining => Ranks::remaining(client.initial_sequence.wrapping_add(1), size),
        Rank::Deadline(after) => Ranks::deadline(start + Time(after)),
    });
    let client = TcpConfig { ranks, ..client };
    let plan = ClientPlan { start, stop: None, cap: None, size: Some(size) };
    transfer(plan, number, client, server, ends).into()
}

/// Datagrams at a constant rate, or on and off by turns.
fn datagrams(
    udp: &UdpFlow,
    numbers: StartDraws,
    seed: u64,
    flow: u32,
    ends: &Endpoints,
) -> (Host, Host) {
    let start = Time(udp.start) + numbers.jitter;
    let stop = udp.stop.map(Time);
    let frame = Bytes(u64::from(udp.packet_size));
    let app = match (udp.on, udp.off) {
        (Some(on), Some(off)) => {
            let spans = Spans { on: Time(on), off: Time(off), exponential: udp.exponential };
            let draws = RandomStream::new(seed, flow, StreamPurpose::Traffic);
            UdpApp::OnOff(OnOff::new((start, stop), udp.rate, frame, spans, draws))
        }
        _ => UdpApp::Constant(ConstantRate::new(start, stop, udp.rate, frame)),
    };
    let Endpoints { client, server } = ends;
    let source = UdpSource::new(app, start, udp.packet_size, client, server);
    (
        Host::UdpSource(source.marked(udp.dscp, ecn_of(udp.ecn), udp.payload_begins.clone())),
        Host::UdpSink(UdpSink::new(None, server, client)),
    )
}

fn ecn_of(field: EcnField) -> Ecn {
    match field {
        EcnField::NotEct => Ecn::NotEct,
        EcnField::Ect0 => Ecn::Ect0,
        EcnField::Ect1 => Ecn::Ect1,
    }
}

/// A voice.
fn voice(voip: &VoipFlow, numbers: StartDraws, ends: &Endpoints) -> (Host, Host) {
    let start = Time(voip.start) + numbers.jitter;
    let source = ConstantRate::spaced(start, voip.stop.map(Time), Time(voip.interval));
    let headers = match voip.ip_version {
        IpVersion::V4 => VOICE_HEADERS + 20,
        IpVersion::V6 => VOICE_HEADERS + 40,
    };
    let samples = (voip.interval * SAMPLES / 1_000_000_000) as u32;
    let app = UdpApp::Voice(source.clone(), samples);
    let Endpoints { client, server } = ends;
    (
        Host::UdpSource(UdpSource::new(app, start, headers + voip.payload, client, server)),
        Host::UdpSink(UdpSink::new(Some(source), server, client)),
    )
}

/// Requests and responses. The end that answers is the flow's first, since the bulk of the data is
/// its; the other one opens the connection.
fn exchange(
    settings: &RequestsFlow,
    mut numbers: StartDraws,
    seed: u64,
    flow: u32,
    ends: &Endpoints,
) -> (Host, Host) {
    let mut end = || TcpConfig {
        ecn: settings.ecn,
        segmentation_offload: settings.segmentation_offload,
        ..tcp_config(settings.ip_version, settings.congestion_control, &settings.tcp, numbers.end())
    };
    let (asks, answers) = (end(), end());
    let opens = Time(settings.start) + numbers.jitter;
    let stop = settings.stop.map(Time);
    let draws = RandomStream::new(seed, flow, StreamPurpose::Traffic);
    let questions = match (settings.every, settings.think) {
        // At the same instants for all that start together, and after the handshake.
        (Some(every), _) => {
            let first = Time(settings.start + every);
            RequestSchedule::new((first, stop), Pace::Every(Time(every)), draws)
        }
        (None, think) => {
            let mean = Time(think.unwrap_or_default());
            RequestSchedule::new((opens, stop), Pace::Think(mean), draws)
        }
    };
    let sizes = ExchangeSizes { request: settings.request, response: settings.response };
    let ExchangeEnds { requester, responder } = ExchangeEnds::new(ends);
    (
        Host::Responder(Responder::new(answers, opens, sizes, (&responder, &requester))),
        Host::Requester(Requester::new(asks, opens, sizes, questions, (&requester, &responder))),
    )
}

/// Addresses and ports of an exchange: the flow's first host, which answers, listens.
struct ExchangeEnds {
    requester: Endpoint,
    responder: Endpoint,
}

impl ExchangeEnds {
    fn new(ends: &Endpoints) -> ExchangeEnds {
        let turned = ends.turned();
        ExchangeEnds { requester: turned.client, responder: turned.server }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_fill_the_span_and_neighbouring_seeds_share_none() {
        let mut starts: Vec<u64> =
            (0..50).flat_map(|seed| (0..20).map(move |flow| start_jitter(seed, flow).0)).collect();
        starts.sort_unstable();
        starts.dedup();
        // A thousand draws of ten million values: some fifty pairs in a thousand runs are equal.
        assert!(starts.len() >= 998, "{}", starts.len());
        assert!(starts[0] < START_JITTER / 100);
        assert!((START_JITTER * 99 / 100..START_JITTER).contains(&starts[starts.len() - 1]));
    }
}
