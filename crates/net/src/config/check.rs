//! Semantic checks of a run configuration, key by key.

use super::network::place_of;
use super::validate::{FASTEST, LONGEST, invalid, within};
use super::{
    Addresses, Aqm, ArrivalProcess, ConfigError, CongestionControlName, FlowConfig, IpVersion,
    NativeAqm, PacingSetting, Rank, RequestsFlow, RunConfig, TcpChoices, TcpFlow, TransfersFlow,
    UdpFlow,
};
use crate::app::{ALL, Pareto, SizeTable, Sizes, interval};
use crate::wire::{EPHEMERAL, LATEST_DEADLINE};
use sojourn_packet::Bytes;
use sojourn_switch::discipline::{self, DisciplineError, REGISTRY};
use sojourn_switch::tm::serializer::{INTER_FRAME_GAP, wire_bytes};

/// Each transfer is a pair of hosts that stays.
const MOST_TRANSFERS: u64 = 200_000;
/// Points of a table of sizes.
const MOST_POINTS: u64 = 100_000;
/// Bytes that a payload may begin with: they are stored with every packet.
const LONGEST_BEGINNING: u64 = 64;

impl RunConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// The first value outside its range, with its key and the range.
    pub fn check(&self) -> Result<(), ConfigError> {
        within("duration", self.duration, 1..=LONGEST)?;
        self.aqm.check()?;
        within("flows (how many)", self.flows.len() as u64, 1..=1_000_000)?;
        for (i, flow) in self.flows.iter().enumerate() {
            check_flow(i, flow, self.duration)?;
        }
        self.check_network()?;
        self.check_constant_rates()
    }

    /// TCP is held back by its window; constant-rate senders faster than their link would queue in
    /// front of it without end.
    fn check_constant_rates(&self) -> Result<(), ConfigError> {
        let mut offered = vec![0_u64; self.network.hosts.len()];
        for flow in &self.flows {
            let from = place_of(&self.network.hosts, flow.common().from, Addresses::Clients);
            if let (FlowConfig::Udp(udp), Some(from)) = (flow, from) {
                offered[from] = offered[from].saturating_add(line_rate(udp));
            }
        }
        for (host, offered) in self.network.hosts.iter().zip(offered) {
            let (whose, allowed) = match host.access_rate {
                Some(rate) => ("access_rate", rate),
                None => ("the link", self.network.least_rate_of(&host.name).unwrap_or(FASTEST)),
            };
            if offered > allowed {
                return Err(invalid(
                    "flows[].rate (sum of all udp flows, with preamble, FCS and gap)",
                    offered,
                    format!("at most {whose} of {} = {allowed}", host.name),
                ));
            }
        }
        Ok(())
    }
}

impl Aqm {
    /// Validates a discipline's parameters.
    ///
    /// # Errors
    /// A discipline or a parameter that does not exist, or its value if it is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Aqm::Native(native) => check_native(native),
            Aqm::SwitchPlane => Ok(()),
        }
    }
}

/// The switch's register of disciplines says which names and parameters there are.
fn check_native(native: &NativeAqm) -> Result<(), ConfigError> {
    let quoted = |names: &mut dyn Iterator<Item = &str>| {
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let Some(registered) = REGISTRY.find(&native.name) else {
        let allowed = quoted(&mut REGISTRY.all().into_iter().map(|d| d.name));
        return Err(invalid("aqm.name", format!("`{}`", native.name), format!("one of {allowed}")));
    };
    let known = || registered.parameters.iter().map(|parameter| parameter.name);
    if let Some(unknown) = native.parameters.keys().find(|key| !known().any(|name| name == *key)) {
        return Err(ConfigError::UnknownKey {
            key: format!("aqm.{unknown}"),
            allowed: quoted(&mut known()),
        });
    }
    let parameters: Vec<_> = native.parameters.iter().map(|(k, v)| (k.as_str(), *v)).collect();
    match discipline::build(&native.name, &parameters) {
        Ok(_) => Ok(()),
        Err(DisciplineError::Value { parameter, value, allowed, .. }) => {
            Err(invalid(&format!("aqm.{parameter}"), value, allowed.to_string()))
        }
        Err(other) => Err(ConfigError::Switch(other.to_string())),
    }
}

/// A flow's rate on a wire, rounded up.
fn line_rate(udp: &UdpFlow) -> u64 {
    let frame = u64::from(udp.packet_size.max(1));
    let wire = wire_bytes(Bytes(frame)).0 + INTER_FRAME_GAP;
    (u128::from(udp.rate) * u128::from(wire)).div_ceil(u128::from(frame)) as u64
}

fn check_flow(i: usize, flow: &FlowConfig, duration: u64) -> Result<(), ConfigError> {
    let key = |name: &str| format!("flows[{i}].{name}");
    let common = flow.common();
    within(&key("rtt"), common.rtt, 0..=100_000_000_000)?;
    within(&key("start"), common.start, 0..=LONGEST)?;
    if let Some(stop) = common.stop {
        within(&key("stop"), stop, common.start..=LONGEST)?;
    }
    within(&key("start_jitter"), common.start_jitter, 0..=LONGEST)?;
    if let Some(port) = common.dst_port {
        within(&key("dst_port"), port.into(), 1..=u64::from(EPHEMERAL.0) - 1)?;
        if i >= EPHEMERAL.1 as usize {
            let allowed = format!("given for the first {} flows only", EPHEMERAL.1);
            return Err(invalid(&key("dst_port"), port, allowed));
        }
    }
    match flow {
        FlowConfig::Tcp(tcp) => {
            check_choices(&key, &tcp.tcp)?;
            check_control(&key, tcp.congestion_control, tcp.ip_version, &tcp.tcp)?;
            check_tcp(&key, tcp)
        }
        FlowConfig::Udp(udp) => check_udp(&key, udp),
        FlowConfig::Transfers(transfers) => check_transfers(&key, transfers, duration),
        FlowConfig::Requests(requests) => check_requests(&key, requests),
        FlowConfig::Voip(voip) => {
            within(&key("payload"), u64::from(voip.payload), 8..=1_400)?;
            within(&key("interval"), voip.interval, 100_000..=1_000_000_000)
        }
    }
}

fn check_choices(key: &dyn Fn(&str) -> String, choices: &TcpChoices) -> Result<(), ConfigError> {
    let minute = 60_000_000_000;
    within(&key("min_rto"), choices.min_rto.unwrap_or(1_000_000), 1_000_000..=minute)?;
    within(&key("initial_window"), choices.initial_window.unwrap_or(1).into(), 1..=1_000)?;
    within(&key("dscp"), choices.dscp.unwrap_or(0).into(), 0..=63)?;
    within(&key("delayed_ack"), choices.delayed_ack.unwrap_or(0), 0..=200_000_000)
}

/// A control that reads telemetry needs to know the path's round-trip time, and INT stands behind IPv4.
fn check_control(
    key: &dyn Fn(&str) -> String,
    control: CongestionControlName,
    ip_version: IpVersion,
    choices: &TcpChoices,
) -> Result<(), ConfigError> {
    within(&key("base_rtt"), choices.base_rtt.unwrap_or(1_000), 1_000..=1_000_000_000)?;
    if !control.reads_telemetry() {
        return Ok(());
    }
    if ip_version != IpVersion::V4 {
        let allowed = "ip_version = 4: telemetry is read behind IPv4";
        return Err(invalid(&key("congestion_control"), <&str>::from(control), allowed));
    }
    match choices.base_rtt {
        Some(_) => Ok(()),
        None => {
            let allowed = "the round-trip time without queues, which this congestion control needs";
            Err(invalid(&key("base_rtt"), "absent", allowed))
        }
    }
}

fn check_tcp(key: &dyn Fn(&str) -> String, tcp: &TcpFlow) -> Result<(), ConfigError> {
    if let Some(cap) = tcp.rate_cap {
        within(&key("rate_cap"), cap, 1_000..=FASTEST)?;
    }
    within(&key("block"), tcp.block, 1..=1 << 30)?;
    match tcp.pacing {
        PacingSetting::AtMost(rate) => within(&key("pacing"), rate, 1_000..=FASTEST),
        _ => Ok(()),
    }
}

fn check_udp(key: &dyn Fn(&str) -> String, udp: &UdpFlow) -> Result<(), ConfigError> {
    within(&key("rate"), udp.rate, 1_000..=FASTEST)?;
    let (smallest, headers) = match udp.ip_version {
        IpVersion::V4 => (60, 42),
        IpVersion::V6 => (62, 62),
    };
    within(&key("packet_size"), u64::from(udp.packet_size), smallest..=1514)?;
    let room = (u64::from(udp.packet_size) - headers).min(LONGEST_BEGINNING);
    within(&key("payload_begins (bytes)"), udp.payload_begins.len() as u64, 0..=room)?;
    within(&key("dscp"), u64::from(udp.dscp), 0..=63)?;
    match (udp.on, udp.off) {
        (Some(on), Some(off)) => {
            within(&key("on"), on, 1_000..=LONGEST)?;
            within(&key("off"), off, 1_000..=LONGEST)
        }
        (None, None) => Ok(()),
        _ => Err(invalid(&key("on, off"), "one of them", "both or neither")),
    }
}

fn check_transfers(
    key: &dyn Fn(&str) -> String,
    transfers: &TransfersFlow,
    duration: u64,
) -> Result<(), ConfigError> {
    within(&key("load"), transfers.load, 1_000..=FASTEST)?;
    check_choices(key, &transfers.tcp)?;
    check_control(key, transfers.congestion_control, transfers.ip_version, &transfers.tcp)?;
    check_rank(key, transfers, duration)?;
    if let ArrivalProcess::Lognormal { sigma } = transfers.arrivals {
        within(&key("arrivals.sigma (thousandths)"), sigma.into(), 1..=5_000)?;
    }
    check_sizes(&key("sizes"), &transfers.sizes)?;
    within(&key("min_size"), transfers.min_size, 1..=1 << 40)?;
    within(&key("max_size"), transfers.max_size, transfers.min_size..=1 << 40)?;
    within(&key("shape (thousandths)"), u64::from(transfers.shape), 100..=10_000)?;
    let sizes = sizes_of(transfers);
    let expected = duration / interval(&sizes, transfers.load).0.max(1);
    if expected > MOST_TRANSFERS {
        let allowed = format!("what makes at most {MOST_TRANSFERS} transfers");
        let value = format!("{}, which makes {expected} transfers", transfers.load);
        return Err(invalid(&key("load"), value, allowed));
    }
    Ok(())
}

/// Ranks are in the header of IPv4, and no deadline of the run may be beyond the greatest.
fn check_rank(
    key: &dyn Fn(&str) -> String,
    transfers: &TransfersFlow,
    duration: u64,
) -> Result<(), ConfigError> {
    let Some(rank) = transfers.tcp.rank else { return Ok(()) };
    if transfers.ip_version != IpVersion::V4 {
        return Err(invalid(&key("rank"), "given", "ranks with ip_version = 4 only"));
    }
    let Rank::Deadline(after) = rank else { return Ok(()) };
    let latest = LATEST_DEADLINE.0;
    if after == 0 || after.saturating_add(duration) > latest {
        let allowed =
            format!("what with the run's {duration} ns is at most {latest} ns: ranks end there");
        return Err(invalid(&key("deadline (ns)"), after, allowed));
    }
    Ok(())
}

/// A table of sizes rises in both columns and ends with all transfers.
fn check_sizes(key: &str, sizes: &[(u64, u64)]) -> Result<(), ConfigError> {
    let Some(last) = sizes.last() else { return Ok(()) };
    within(&format!("{key} (points)"), sizes.len() as u64, 1..=MOST_POINTS)?;
    let size_in_order = |two: &[(u64, u64)]| two[0].0 < two[1].0 && two[0].1 <= two[1].1;
    if last.1 != ALL || !sizes.windows(2).all(size_in_order) || sizes[0].0 == 0 || last.0 > 1 << 40
    {
        let allowed = "sizes from 1 to 2^40 bytes in increasing order, shares that do not decrease \
                       and end with 10^9";
        return Err(invalid(key, "not so", allowed));
    }
    Ok(())
}

/// The distribution of a source's sizes.
pub(crate) fn sizes_of(transfers: &TransfersFlow) -> Sizes {
    if !transfers.sizes.is_empty() {
        return Sizes::Table(SizeTable::new(&transfers.sizes, transfers.interpolate));
    }
    let shape = f64::from(transfers.shape) / 1_000.0;
    Sizes::Pareto(Pareto { min: transfers.min_size, max: transfers.max_size, shape })
}

fn check_requests(
    key: &dyn Fn(&str) -> String,
    requests: &RequestsFlow,
) -> Result<(), ConfigError> {
    check_choices(key, &requests.tcp)?;
    check_control(key, requests.congestion_control, requests.ip_version, &requests.tcp)?;
    within(&key("request"), requests.request, 1..=1 << 40)?;
    within(&key("response"), requests.response, 1..=1 << 40)?;
    match (requests.think, requests.every) {
        (Some(think), None) => within(&key("think"), think, 1..=LONGEST),
        (None, Some(every)) => within(&key("every"), every, 1_000..=LONGEST),
        _ => Err(invalid(&key("think, every"), "both or neither", "exactly one of them")),
    }
}
