//! Configuration of a network: hosts, switches, the links between them, and all defaults.
//!
//! The types are plain data, with references by name. One switch between many senders and many
//! receivers is a network of two groups of hosts. Routes are derived from the links (`routes.rs`).
//! This file must not depend on the simulation.

use super::{Aqm, LinkNetem};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Hosts, switches and the links between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSection<A = Aqm> {
    /// Groups of senders and receivers.
    pub hosts: Vec<HostSection>,
    /// Switches between them.
    pub switches: Vec<SwitchNode<A>>,
    /// Links, each between two of either; a switch numbers its ports from 1 in this order, unless a
    /// link gives the number.
    pub links: Vec<LinkSection>,
}

/// A host, or a group of hosts behind one port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// Its name.
    pub name: String,
    /// Addresses of the hosts.
    pub addresses: Addresses,
    /// Rate in bit/s of a link shared by all hosts here, in each direction, between the link to
    /// their switch and the hosts; if absent there is only that link.
    #[serde(default)]
    pub access_rate: Option<u64>,
    /// Shaper that all packets from here pass first.
    #[serde(default)]
    pub shaper: Option<HostShaper>,
}

/// A token bucket on the way out of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostShaper {
    /// bit/s of whole frames without FCS.
    pub rate: u64,
    /// Bytes that may go at once.
    pub burst: u64,
    /// Packets that may wait; more are dropped.
    pub limit: u32,
}

/// Emulation of the flows' round-trip times, and the limit of delayed packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetemSection {
    /// Place of the emulation.
    #[serde(default)]
    pub at: NetemPlace,
    /// The most packets that a queue of it holds, and it drops more; if absent it holds all. Not
    /// behind the links.
    #[serde(default)]
    pub limit: Option<u32>,
    /// One queue for all flows of a host; else each flow has one.
    #[serde(default)]
    pub shared: bool,
}

/// Place where round-trip times are emulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetemPlace {
    /// Half on the way from the last link to the receiver, half from the last link to the sender.
    #[default]
    Behind,
    /// All of it at the sender, in front of its link.
    Senders,
    /// All of it at the receiver, in front of its link: data is not delayed, acknowledgements are.
    Receivers,
    /// Half of it at either.
    Both,
}

/// The addresses of a host, or of a group in which each flow has a host of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Addresses {
    /// One host, with these.
    Own {
        /// Its IPv4 address.
        ipv4: Ipv4Addr,
        /// Its IPv6 address.
        ipv6: Ipv6Addr,
    },
    /// A host for each flow, in 10.0.0.0/9 and fd00::/64. The default senders.
    Clients,
    /// A host for each flow, in 10.128.0.0/9 and fd00:0:0:1::/64. The default receivers.
    Servers,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "A: Deserialize<'de>"))]
pub struct SwitchNode<A = Aqm> {
    /// Its name.
    pub name: String,
    /// AQM of the queues of its shaped ports; the run's AQM if absent.
    #[serde(default)]
    pub aqm: Option<A>,
    /// Speed of a port in bit/s.
    #[serde(default = "port_speed")]
    pub port_speed: u64,
    /// Time from the last bit received to the traffic manager, ns.
    #[serde(default = "ingress_latency")]
    pub ingress_latency: u64,
    /// Time from the scheduler to the first bit sent, ns.
    #[serde(default = "egress_latency")]
    pub egress_latency: u64,
    /// Rate of the recirculation port in bit/s.
    #[serde(default = "recirculation_rate")]
    pub recirculation_rate: u64,
    /// Time from the end of egress to the ingress parser over the recirculation port, ns.
    #[serde(default = "recirculation_latency")]
    pub recirculation_latency: u64,
    /// The port of its controller, if it has one, without a link: frames are passed through the
    /// API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_port: Option<u16>,
    /// Pipes of its chip, 128 ports each; those of its links' ports if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipes: Option<u16>,
    /// Use of several links of equal cost; if absent packets take the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multipath: Option<Multipath>,
    /// A buffer that its queues share by dynamic thresholds; if absent each queue has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBuffer>,
}

/// Choice among links of equal cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Multipath {
    /// The rule of the choice.
    pub mode: MultipathMode,
    /// Seed of the hash; the switch's number, from 1, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Least gap before a new flowlet, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<u64>,
}

/// Rule of a choice among links of equal cost; JSON has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MultipathMode {
    /// A hash of addresses, protocol and ports: a flow stays on its link.
    Ecmp,
    /// Each packet takes the next link.
    Spray,
    /// A flow takes a new link after a gap.
    Flowlet,
}

/// A buffer shared by dynamic thresholds. Sizes are bytes, counted in cells of 80 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedBuffer {
    /// All of it.
    pub size: u64,
    /// A queue holds at most so many thousandths of what its pool has free.
    pub alpha: u32,
    /// Of each queue, whatever others hold.
    #[serde(default)]
    pub guaranteed: u64,
    /// Of each queue, for packets beyond its limit.
    #[serde(default)]
    pub headroom: u64,
    /// Pools of some queues; the others share what is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<BufferPool>,
    /// What divides a pool among its queues.
    #[serde(default)]
    pub sharing: Sharing,
    /// When priority flow control would pause senders, if that is to be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pfc: Option<PauseSection>,
}

/// Rule by which a pool is divided among its queues; JSON has the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// Dynamic thresholds.
    #[default]
    Dynamic,
    /// Active buffer management.
    Abm,
}

/// When the sender into a port would be paused. Sizes are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PauseSection {
    /// What its packets hold at most before that; `alpha` if absent.
    #[serde(default)]
    pub xoff: Option<u64>,
    /// Thousandths of what the buffer has free, likewise.
    #[serde(default)]
    pub alpha: u32,
    /// How much less than that lets it go on.
    pub resume_below: u64,
    /// Room beyond that for packets on their way.
    pub headroom: u64,
}

/// A part of a buffer that some queues share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferPool {
    /// The other ends of the queues' links.
    pub towards: Vec<String>,
    /// Bytes.
    pub size: u64,
    /// A queue holds at most so many thousandths of what the pool has free.
    pub alpha: u32,
}

/// A link, full duplex.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSection {
    /// Its two ends.
    pub between: [String; 2],
    /// The number of the port at the first end that is a switch; its place among the switch's links,
    /// from 1, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The number of the port at the second end, where both are switches; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_back: Option<u16>,
    /// Rate from the first end to the second in bit/s; that of the ports if absent. A switch shapes
    /// its port to it and lets its AQM manage the queue.
    #[serde(default)]
    pub rate: Option<u64>,
    /// Rate from the second end to the first; the same if absent.
    #[serde(default)]
    pub rate_back: Option<u64>,
    /// Packets a second from the first end to the second, exactly spaced; the way back is not held
    /// up. A bottleneck as one with a rate is.
    #[serde(default)]
    pub packets_per_second: Option<u64>,
    /// One-way delay from the first end to the second in ns.
    #[serde(default)]
    pub delay: u64,
    /// One-way delay from the second end to the first; the same if absent.
    #[serde(default)]
    pub delay_back: Option<u64>,
    /// Delivery opportunities from the first end to the second, in place of a rate: milliseconds and
    /// how many there are in each; the last millisecond is the period. A bottleneck, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_trace: Option<Vec<(u64, u32)>>,
    /// The same from the second end to the first; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_trace_back: Option<Vec<(u64, u32)>>,
    /// Random loss, jitter, reordering and duplication from the first end to the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub netem: Option<LinkNetem>,
    /// The same from the second end to the first; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub netem_back: Option<LinkNetem>,
    /// Burst of the shapers in bytes.
    #[serde(default = "burst")]
    pub burst: u64,
    /// Tail-drop limit of each queue in front of the link, in bytes (counted in 80-byte cells).
    #[serde(default = "queue_limit")]
    pub queue_limit: u64,
    /// Write a row for each packet in the queues of a switch in front of this link, if it has a
    /// rate.
    #[serde(default = "yes")]
    pub rows: bool,
    /// Keep a copy of every frame that enters and leaves those queues, whatever the run keeps.
    #[serde(default)]
    pub capture: bool,
    /// Changes during the run, in the order of time.
    #[serde(default)]
    pub schedule: Vec<LinkStep>,
}

/// A change of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkStep {
    /// Time, ns.
    pub at: u64,
    /// The rate from then on, bit/s; as before if absent.
    #[serde(default)]
    pub rate: Option<u64>,
    /// The rate of the way back; `rate` if the link has one rate for both, else as before.
    #[serde(default)]
    pub rate_back: Option<u64>,
    /// The one-way delay from then on, ns; as before if absent. A packet never overtakes another
    /// on a link: those sent after a delay became shorter arrive behind those sent before.
    #[serde(default)]
    pub delay: Option<u64>,
    /// The delay of the way back; `delay` if the link has one delay for both ways, else as before.
    #[serde(default)]
    pub delay_back: Option<u64>,
    /// Whether a link between two switches carries frames from then on; as before if absent. What is
    /// sent into a link that is down is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// Delay until the routers of the network know of a change of `up`, ns; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reroute: Option<u64>,
}

/// The names of a network with one switch.
const SENDERS: &str = "senders";
const SWITCH: &str = "switch";
const RECEIVERS: &str = "receivers";
/// Of its bottleneck.
const RATE: u64 = 100_000_000;

impl<A> Default for NetworkSection<A> {
    /// One switch, with a bottleneck of 100 Mbit/s.
    fn default() -> Self {
        NetworkSection::one_switch(LinkSection::bottleneck())
    }
}

impl<A> NetworkSection<A> {
    /// Senders and receivers with a link of 10 Gbit/s each, and between them one switch whose port
    /// 2 sends into `bottleneck`. Its delay applies on the way to either.
    ///
    /// ```
    /// use sojourn_net::config::{Aqm, LinkSection, NetworkSection};
    /// let slow = LinkSection { rate: Some(5_000_000), ..LinkSection::bottleneck() };
    /// let network = NetworkSection::<Aqm>::one_switch(slow);
    /// assert_eq!(network.links[1].between, ["switch", "receivers"]);
    /// ```
    pub fn one_switch(bottleneck: LinkSection) -> NetworkSection<A> {
        let group = |name: &str, addresses| HostSection {
            name: name.into(),
            addresses,
            access_rate: Some(port_speed()),
            shaper: None,
        };
        let delays = bottleneck.schedule.iter().filter(|step| step.delay.is_some());
        let access = LinkSection {
            delay_back: Some(bottleneck.delay),
            netem_back: bottleneck.netem_back,
            queue_limit: bottleneck.queue_limit,
            schedule: delays
                .map(|step| LinkStep { at: step.at, delay_back: step.delay, ..LinkStep::default() })
                .collect(),
            ..LinkSection::between(SENDERS, SWITCH)
        };
        NetworkSection {
            hosts: vec![group(SENDERS, Addresses::Clients), group(RECEIVERS, Addresses::Servers)],
            switches: vec![SwitchNode::named(SWITCH)],
            links: vec![
                access,
                LinkSection { delay_back: Some(0), netem_back: None, ..bottleneck },
            ],
        }
    }
}

impl LinkSection {
    /// A link without a delay or a limiting rate.
    pub fn between(one: &str, other: &str) -> LinkSection {
        LinkSection {
            between: [one.into(), other.into()],
            port: None,
            port_back: None,
            rate: None,
            rate_back: None,
            packets_per_second: None,
            delay: 0,
            delay_back: None,
            link_trace: None,
            link_trace_back: None,
            netem: None,
            netem_back: None,
            burst: burst(),
            queue_limit: queue_limit(),
            rows: true,
            capture: false,
            schedule: Vec::new(),
        }
    }

    /// True if one of its directions ever has a delay.
    pub(super) fn is_delayed(&self, back: bool) -> bool {
        let own = back && self.delay_back.is_some();
        let first = if own { self.delay_back } else { Some(self.delay) };
        let step = |step: &LinkStep| if own { step.delay_back } else { step.delay };
        self.schedule.iter().map(step).chain([first]).flatten().any(|delay| delay > 0)
    }

    /// The link that a network with one switch measures, 100 Mbit/s.
    pub fn bottleneck() -> LinkSection {
        LinkSection { rate: Some(RATE), ..LinkSection::between(SWITCH, RECEIVERS) }
    }
}

impl<A> SwitchNode<A> {
    /// A switch that takes the AQM of the run.
    pub fn named(name: &str) -> SwitchNode<A> {
        SwitchNode {
            name: name.into(),
            aqm: None,
            port_speed: port_speed(),
            ingress_latency: ingress_latency(),
            egress_latency: egress_latency(),
            recirculation_rate: recirculation_rate(),
            recirculation_latency: recirculation_latency(),
            cpu_port: None,
            pipes: None,
            multipath: None,
            shared_buffer: None,
        }
    }
}

/// Ports of a pipe, as a chip numbers them.
pub const PIPE_PORTS: u16 = 128;
/// The ports of a pipe that come back into ingress.
const RECIRCULATING: std::ops::Range<u16> = 68..72;

impl<A> NetworkSection<A> {
    /// The number of the port at each end of each link, for the ends that are switches.
    pub fn port_numbers(&self) -> Vec<[Option<u16>; 2]> {
        let mut used: BTreeMap<&str, u16> =
            self.switches.iter().map(|switch| (switch.name.as_str(), 0)).collect();
        let mut of_link = |link: &'_ LinkSection| {
            let mut given = [link.port, link.port_back].into_iter();
            [0, 1].map(|end| {
                let place = used.get_mut(link.between[end].as_str())?;
                *place = place.saturating_add(1);
                Some(given.next().flatten().unwrap_or(*place))
            })
        };
        self.links.iter().map(&mut of_link).collect()
    }

    /// The numbers of the ports of a switch, in the order of its links.
    pub fn ports_of(&self, switch: &str) -> Vec<u16> {
        let ends = self.links.iter().zip(self.port_numbers());
        let ports = ends.flat_map(|(link, numbers)| {
            let own = |end: &usize| link.between[*end] == switch;
            [0, 1].into_iter().filter(own).filter_map(move |end| numbers[end])
        });
        ports.collect()
    }

    /// Number of pipes of a switch's chip: as configured, or as its ports require.
    pub fn pipes_of(&self, node: &SwitchNode<A>) -> u16 {
        let last = || self.ports_of(&node.name).into_iter().max().unwrap_or(0);
        node.pipes.unwrap_or_else(|| last() / PIPE_PORTS + 1)
    }
}

/// The ports by which packets come back into ingress, of a chip with so many pipes: one of a single pipe,
/// else the four of each.
///
/// ```
/// use sojourn_net::config::recirculation_ports;
/// assert_eq!(recirculation_ports(1), [68]);
/// assert_eq!(recirculation_ports(2), [68, 69, 70, 71, 196, 197, 198, 199]);
/// ```
pub fn recirculation_ports(pipes: u16) -> Vec<u16> {
    match pipes {
        0 | 1 => vec![RECIRCULATING.start],
        _ => (0..pipes * PIPE_PORTS).filter(|port| recirculates(*port)).collect(),
    }
}

/// True if a port of this number comes back into ingress, on a chip that has the pipe.
pub fn recirculates(port: u16) -> bool {
    RECIRCULATING.contains(&(port % PIPE_PORTS))
}

/// The place of the host that sends a flow, or receives it: the one it names, else the group.
pub(crate) fn place_of(
    hosts: &[HostSection],
    name: Option<&str>,
    group: Addresses,
) -> Option<usize> {
    hosts.iter().position(|host| match name {
        Some(name) => host.name == name,
        None => host.addresses == group,
    })
}

impl<A> NetworkSection<A> {
    /// The same network with its AQMs converted.
    pub(super) fn with_aqms<B>(&self, convert: &impl Fn(&A) -> B) -> NetworkSection<B> {
        let switch = |node: &SwitchNode<A>| SwitchNode {
            name: node.name.clone(),
            aqm: node.aqm.as_ref().map(convert),
            port_speed: node.port_speed,
            ingress_latency: node.ingress_latency,
            egress_latency: node.egress_latency,
            recirculation_rate: node.recirculation_rate,
            recirculation_latency: node.recirculation_latency,
            cpu_port: node.cpu_port,
            pipes: node.pipes,
            multipath: node.multipath,
            shared_buffer: node.shared_buffer.clone(),
        };
        NetworkSection {
            hosts: self.hosts.clone(),
            switches: self.switches.iter().map(switch).collect(),
            links: self.links.clone(),
        }
    }
}

fn yes() -> bool {
    true
}

/// Speed of a port, bit/s.
pub fn port_speed() -> u64 {
    10_000_000_000
}

fn ingress_latency() -> u64 {
    600
}

fn egress_latency() -> u64 {
    500
}

fn recirculation_rate() -> u64 {
    100_000_000_000
}

fn recirculation_latency() -> u64 {
    400
}

/// Of a shaper, bytes.
pub fn burst() -> u64 {
    1_600
}

/// Tail-drop limit of a queue, bytes.
pub fn queue_limit() -> u64 {
    1_940_000
}
