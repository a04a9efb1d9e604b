//! Switches in a row and hosts around them: the general form of what is between two hosts.
//!
//! Plain data, by names. Which way a packet goes is found from the links (`routes.rs`); this file
//! must not know how anything of it is simulated.

use super::{Aqm, default_port_speed};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Hosts, switches and the links between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSection<A = Aqm> {
    /// Who sends and receives.
    pub hosts: Vec<HostSection>,
    /// What is between them.
    pub switches: Vec<SwitchNode<A>>,
    /// Links, each between two of either; a switch numbers its ports from 1 in this order.
    pub links: Vec<LinkSection>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// Its name.
    pub name: String,
    /// Its IPv4 address.
    pub ipv4: Ipv4Addr,
    /// Its IPv6 address.
    pub ipv6: Ipv6Addr,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "A: Deserialize<'de>"))]
pub struct SwitchNode<A = Aqm> {
    /// Its name.
    pub name: String,
    /// What manages the queues of its shaped ports; the run's AQM if absent.
    #[serde(default)]
    pub aqm: Option<A>,
    /// Speed of a port in bit/s.
    #[serde(default = "default_port_speed")]
    pub port_speed: u64,
    /// Time from the last bit received to the traffic manager, ns.
    pub ingress_latency: u64,
    /// Time from the scheduler to the first bit sent, ns.
    pub egress_latency: u64,
    /// Rate of the recirculation port in bit/s.
    pub recirculation_rate: u64,
    /// Time from the end of egress to the ingress parser over the recirculation port, ns.
    pub recirculation_latency: u64,
}

/// A link, full duplex.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSection {
    /// Its two ends.
    pub between: [String; 2],
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
    /// One-way delay in ns.
    #[serde(default)]
    pub delay: u64,
    /// Burst of the shapers in bytes.
    pub burst: u64,
    /// Tail-drop limit of each queue in front of the link, in bytes (counted in 80-byte cells).
    pub queue_limit: u64,
    /// Write a row for each packet in the queues of a switch in front of this link, if it has a
    /// rate.
    #[serde(default = "yes")]
    pub rows: bool,
    /// What changes while the run goes on, in the order of time.
    #[serde(default)]
    pub schedule: Vec<LinkStep>,
}

/// A change of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkStep {
    /// When, ns.
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
}

impl<A> NetworkSection<A> {
    /// The same network with its AQMs told in other terms.
    pub(super) fn with_aqms<B>(&self, told: &impl Fn(&A) -> B) -> NetworkSection<B> {
        let switch = |node: &SwitchNode<A>| SwitchNode {
            name: node.name.clone(),
            aqm: node.aqm.as_ref().map(told),
            port_speed: node.port_speed,
            ingress_latency: node.ingress_latency,
            egress_latency: node.egress_latency,
            recirculation_rate: node.recirculation_rate,
            recirculation_latency: node.recirculation_latency,
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
