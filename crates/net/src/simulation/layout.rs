//! Topology of a configured network: one list of switches, ports and attachment points of hosts.
//!
//! The layout depends on the configuration alone and builds nothing.

use crate::config::routes::Graph;
use crate::config::{
    Addresses, Aqm, HostSection, HostShaper, LinkNetem, LinkSection, LinkStep, NetworkSection,
    RunConfig, SwitchNode, recirculation_ports,
};
use crate::config::{Multipath, SharedBuffer};
use crate::wire::{Role, networks_of};
use sojourn_packet::{Bytes, Rate, Time};
use sojourn_switch::tm::link_trace::LinkTrace;
use sojourn_switch::tm::shaper::ShaperConfig;
use sojourn_switch::{PortId, Routes};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

/// Switches, and where hosts are attached to them.
pub(super) struct Layout<'a> {
    pub(super) switches: Vec<SwitchLayout<'a>>,
    pub(super) access_links: Vec<AccessLayout>,
    /// The hosts and groups of hosts, each with an access link.
    pub(super) hosts: &'a [HostSection],
    /// The observed ports, as switch and place among its ports.
    pub(super) bottlenecks: Vec<(u16, usize)>,
    /// Changes, in the order of time.
    pub(super) changes: Vec<(Time, Change)>,
}

/// One switch.
pub(super) struct SwitchLayout<'a> {
    pub(super) name: &'a str,
    pub(super) aqm: &'a Aqm,
    pub(super) latencies: Latencies,
    /// The port of its controller.
    pub(super) cpu: Option<PortId>,
    /// The ports that come back into ingress.
    pub(super) recirculating: Vec<PortId>,
    pub(super) ports: Vec<PortLayout>,
    /// Routes by address.
    pub(super) routes: Routes,
    /// The choice among links of equal cost.
    pub(super) multipath: Option<Multipath>,
    pub(super) buffer: Option<&'a SharedBuffer>,
}

/// Latencies of a switch.
#[derive(Clone, Copy)]
pub(super) struct Latencies {
    pub(super) ingress: Time,
    pub(super) egress: Time,
    pub(super) recirculation_rate: Rate,
    pub(super) recirculation: Time,
}

/// One front-panel port and what is behind it.
pub(super) struct PortLayout {
    pub(super) id: PortId,
    pub(super) speed: Rate,
    pub(super) shaper: Option<ShaperConfig>,
    /// Packets a second.
    pub(super) packet_pace: Option<u64>,
    pub(super) trace: Option<LinkTrace>,
    pub(super) queue_limit: Bytes,
    /// The AQM manages its queue.
    pub(super) managed: bool,
    pub(super) observed: bool,
    /// Its frames are kept, whatever the run keeps.
    pub(super) captured: bool,
    pub(super) end: End,
    /// One-way, behind the port.
    pub(super) delay: Time,
    /// Other end of the link.
    pub(super) towards: String,
    /// Random events of frames behind the port.
    pub(super) netem: Option<NetemLayout>,
}

/// Random loss, jitter, reordering and duplication of one direction of a link.
#[derive(Clone)]
pub(super) struct NetemLayout {
    pub(super) given: LinkNetem,
    /// Of the direction among all: twice the link's place, and one more for the way back.
    pub(super) number: u32,
    /// Its near end and its far end.
    pub(super) ends: [String; 2],
}

/// Other end of a port's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A port of a switch.
    Switch(u16, PortId),
    /// The hosts behind an access link.
    Hosts(u16),
}

/// Attachment of hosts.
pub(super) struct AccessLayout {
    pub(super) switch: u16,
    pub(super) port: PortId,
    /// Of the link towards the switch.
    pub(super) rate: Rate,
    pub(super) delay: Time,
    /// Of a link that the hosts share behind the switch's port, if there is one.
    pub(super) shared: Option<Rate>,
    /// On the way out of the hosts, if there is one.
    pub(super) shaper: Option<HostShaper>,
    /// Random events of frames on the link towards the switch.
    pub(super) netem: Option<NetemLayout>,
}

/// A change while the run goes on.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Whether the link behind a switch's port, by its place, carries frames.
    Up(u16, usize, bool),
    /// The routes of a switch.
    Routes(u16, Arc<Routes>),
    /// The shaper of a switch's port.
    Shaper(u16, PortId, Option<ShaperConfig>),
    /// The delay behind a switch's port, by its place.
    Delay(u16, usize, Time),
    /// An access link towards its switch: its rate, if it changes, and its delay.
    AccessLink(u16, Option<Rate>, Option<Time>),
}

/// The layout of a checked configuration.
pub(super) fn layout(config: &RunConfig) -> Layout<'_> {
    let mut layout = Builder::new(&config.network, &config.aqm).layout();
    layout.changes.sort_by_key(|(at, _)| *at);
    layout
}

/// A port's shaper, if the rate is below the port's own.
fn shaper(rate: u64, port_speed: u64, burst: u64) -> Option<ShaperConfig> {
    (rate < port_speed).then(|| ShaperConfig::bits(Rate(rate), burst))
}

/// A network's layout, link by link.
struct Builder<'a> {
    network: &'a NetworkSection,
    layout: Layout<'a>,
}

/// A node by kind and index.
#[derive(Clone, Copy)]
enum Node {
    Host(u16),
    Switch(u16),
}

/// A direction of a link: its rates at first and after each step.
struct Direction<'a> {
    link: &'a LinkSection,
    /// Of the link in the network.
    place: u32,
    back: bool,
}

impl Direction<'_> {
    fn rate(&self) -> Option<u64> {
        if self.back { self.link.rate_back.or(self.link.rate) } else { self.link.rate }
    }

    fn packet_pace(&self) -> Option<u64> {
        if self.back { None } else { self.link.packets_per_second }
    }

    fn rate_after(&self, step: &LinkStep) -> Option<u64> {
        match self.back {
            false => step.rate,
            true if self.link.rate_back.is_some() => step.rate_back,
            true => step.rate_back.or(step.rate),
        }
    }

    fn delay(&self) -> Time {
        let back = self.link.delay_back.filter(|_| self.back);
        Time(back.unwrap_or(self.link.delay))
    }

    fn trace(&self) -> Option<LinkTrace> {
        let given = if self.back { &self.link.link_trace_back } else { &self.link.link_trace };
        LinkTrace::new(given.clone()?)
    }

    fn netem(&self) -> Option<NetemLayout> {
        let given = if self.back { self.link.netem_back } else { self.link.netem };
        let given = given.filter(|given| !given.is_idle())?;
        let number = 2 * self.place + u32::from(self.back);
        let mut ends = self.link.between.clone();
        if self.back {
            ends.reverse();
        }
        Some(NetemLayout { given, number, ends })
    }

    fn delay_after(&self, step: &LinkStep) -> Option<Time> {
        let delay = match self.back && self.link.delay_back.is_some() {
            true => step.delay_back,
            false => step.delay,
        };
        delay.map(Time)
    }
}

impl<'a> Builder<'a> {
    fn new(network: &'a NetworkSection, run: &'a Aqm) -> Builder<'a> {
        let layout = Layout {
            switches: network.switches.iter().map(|s| empty_switch(network, s, run)).collect(),
            // Every host has a link, which fills its entry in.
            access_links: Vec::new(),
            hosts: &network.hosts,
            bottlenecks: Vec::new(),
            changes: Vec::new(),
        };
        Builder { network, layout }
    }

    fn layout(mut self) -> Layout<'a> {
        let mut access_links: Vec<Option<AccessLayout>> = Vec::new();
        access_links.resize_with(self.network.hosts.len(), || None);
        let links = self.network.links.iter().zip(0..);
        for ((link, place), numbers) in links.zip(self.network.port_numbers()) {
            let way = |back| Direction { link, place, back };
            // The end of a host has none.
            let ports = numbers.map(|number| PortId(number.unwrap_or_default()));
            let [a, b] = [0, 1].map(|end| self.find(&link.between[end]));
            match (a, b) {
                (Some(Node::Switch(a)), Some(Node::Switch(b))) => {
                    self.between_switches([way(false), way(true)], [a, b], ports);
                }
                (Some(Node::Switch(s)), Some(Node::Host(h))) => {
                    access_links[usize::from(h)] =
                        Some(self.switch_to_host([way(false), way(true)], (s, ports[0]), h));
                }
                (Some(Node::Host(h)), Some(Node::Switch(s))) => {
                    access_links[usize::from(h)] =
                        Some(self.switch_to_host([way(true), way(false)], (s, ports[1]), h));
                }
                // The configuration was checked.
                _ => {}
            }
        }
        self.layout.access_links = access_links.into_iter().flatten().collect();
        let graph = Graph::new(self.network);
        let routes = self.routes(&graph);
        for (switch, routes) in self.layout.switches.iter_mut().zip(routes) {
            switch.routes = routes;
        }
        self.reroute();
        self.layout
    }

    fn find(&self, name: &str) -> Option<Node> {
        let switch = self.network.switches.iter().position(|s| s.name == name);
        let host = || self.network.hosts.iter().position(|h| h.name == name);
        switch.map(|i| Node::Switch(i as u16)).or_else(|| host().map(|i| Node::Host(i as u16)))
    }

    fn between_switches(
        &mut self,
        [forth, back]: [Direction<'a>; 2],
        [a, b]: [u16; 2],
        [here, there]: [PortId; 2],
    ) {
        for step in &forth.link.schedule {
            let Some(up) = step.up else { continue };
            for switch in [a, b] {
                let place = self.layout.switches[usize::from(switch)].ports.len();
                self.layout.changes.push((Time(step.at), Change::Up(switch, place, up)));
            }
        }
        self.add_port(&forth, (a, here), End::Switch(b, there));
        self.add_port(&back, (b, there), End::Switch(a, here));
    }

    /// A link between a switch and a host, first the direction from the switch.
    fn switch_to_host(
        &mut self,
        [to_host, from_host]: [Direction<'a>; 2],
        (switch, port): (u16, PortId),
        host: u16,
    ) -> AccessLayout {
        self.add_port(&to_host, (switch, port), End::Hosts(host));
        let speed = self.network.switches[usize::from(switch)].port_speed;
        // A host on a shared link sends at that link's rate.
        let shared = self.network.hosts[usize::from(host)].access_rate;
        for step in &from_host.link.schedule {
            let rate = from_host.rate_after(step).filter(|_| shared.is_none());
            let change = Change::AccessLink(host, rate.map(Rate), from_host.delay_after(step));
            self.layout.changes.push((Time(step.at), change));
        }
        AccessLayout {
            switch,
            port,
            rate: Rate(shared.or(from_host.rate()).unwrap_or(speed)),
            delay: from_host.delay(),
            shared: shared.map(Rate),
            shaper: self.network.hosts[usize::from(host)].shaper,
            netem: from_host.netem(),
        }
    }

    /// The port at the near end of a direction.
    fn add_port(&mut self, direction: &Direction<'a>, (switch, id): (u16, PortId), end: End) {
        let link = direction.link;
        let node = &self.network.switches[usize::from(switch)];
        let shaper = |rate| shaper(rate, node.port_speed, link.burst);
        let place = self.layout.switches[usize::from(switch)].ports.len();
        for step in &link.schedule {
            let at = Time(step.at);
            let rate = direction.rate_after(step);
            let reshape = rate.map(|rate| (at, Change::Shaper(switch, id, shaper(rate))));
            let delay = direction.delay_after(step);
            let delay = delay.map(|delay| (at, Change::Delay(switch, place, delay)));
            self.layout.changes.extend(reshape.into_iter().chain(delay));
        }
        let trace = direction.trace();
        let managed =
            direction.rate().is_some() || direction.packet_pace().is_some() || trace.is_some();
        if managed && link.rows {
            self.layout.bottlenecks.push((switch, place));
        }
        self.layout.switches[usize::from(switch)].ports.push(PortLayout {
            id,
            speed: Rate(node.port_speed),
            shaper: direction.rate().and_then(shaper),
            packet_pace: direction.packet_pace(),
            trace,
            queue_limit: Bytes(link.queue_limit),
            managed,
            observed: managed && link.rows,
            captured: managed && link.rows && link.capture,
            end,
            delay: direction.delay(),
            towards: link.between[usize::from(!direction.back)].clone(),
            netem: direction.netem(),
        });
    }

    /// The routes of each switch to each host.
    fn routes(&self, graph: &Graph) -> Vec<Routes> {
        let switches = || self.layout.switches.iter();
        let mut routes: Vec<Routes> = switches().map(|_| Routes::default()).collect();
        for (host, section) in self.network.hosts.iter().enumerate() {
            let ways = graph.ways_to(host).into_iter().zip(switches());
            for ((mut ports, switch), own) in ways.zip(&mut routes) {
                match switch.multipath {
                    Some(_) => ports.sort_unstable(),
                    None => ports.truncate(1),
                }
                let ports: Vec<_> = ports.into_iter().map(PortId).collect();
                lead_to(own, section, &ports);
            }
        }
        for ((place, switch), own) in switches().enumerate().zip(&mut routes) {
            let given = switch.multipath.and_then(|multipath| multipath.seed);
            own.set_hash_seed(given.unwrap_or(place as u64 + 1));
        }
        routes
    }

    /// New routes for all switches each time the network knows of a link that failed or returned.
    fn reroute(&mut self) {
        let known = |step: &LinkStep| {
            step.up.map(|up| (step.at.saturating_add(step.reroute.unwrap_or(0)), up))
        };
        let links = || self.network.links.iter().map(|link| link.schedule.iter().filter_map(known));
        let instants: BTreeSet<u64> = links().flatten().map(|(at, _)| at).collect();
        for instant in instants {
            let down = links().enumerate().filter_map(|(place, steps)| {
                let (_, up) = steps.filter(|(at, _)| *at <= instant).max_by_key(|(at, _)| *at)?;
                (!up).then_some(place)
            });
            let graph = Graph::without(self.network, &down.collect());
            for (routes, switch) in self.routes(&graph).into_iter().zip(0..) {
                let change = Change::Routes(switch, Arc::new(routes));
                self.layout.changes.push((Time(instant), change));
            }
        }
    }
}

/// Adds the way to a host or a group of hosts.
fn lead_to(routes: &mut Routes, host: &HostSection, ports: &[PortId]) {
    let role = match host.addresses {
        Addresses::Own { ipv4, ipv6 } => {
            routes.set_equal(IpAddr::V4(ipv4), ports);
            routes.set_equal(IpAddr::V6(ipv6), ports);
            return;
        }
        Addresses::Clients => Role::Client,
        Addresses::Servers => Role::Server,
    };
    for (first, bits) in networks_of(role) {
        routes.set_equal_network(first, bits, ports);
    }
}

fn empty_switch<'a>(
    network: &NetworkSection,
    node: &'a SwitchNode,
    run: &'a Aqm,
) -> SwitchLayout<'a> {
    let recirculating = recirculation_ports(network.pipes_of(node));
    SwitchLayout {
        name: &node.name,
        aqm: node.aqm.as_ref().unwrap_or(run),
        latencies: Latencies {
            ingress: Time(node.ingress_latency),
            egress: Time(node.egress_latency),
            recirculation_rate: Rate(node.recirculation_rate),
            recirculation: Time(node.recirculation_latency),
        },
        cpu: node.cpu_port.map(PortId),
        recirculating: recirculating.into_iter().map(PortId).collect(),
        ports: Vec::new(),
        routes: Routes::default(),
        multipath: node.multipath,
        buffer: node.shared_buffer.as_ref(),
    }
}
