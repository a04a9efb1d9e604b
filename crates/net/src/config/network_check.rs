//! Semantic checks of a network: names, links, paths between hosts, schedules.
//!
//! The checks depend on the network's description and its routes. Each message names the key and
//! the values it allows.

use super::network::{
    Addresses, HostSection, LinkSection, LinkStep, Multipath, MultipathMode, NetemPlace,
    NetworkSection, PIPE_PORTS, PauseSection, SharedBuffer, SwitchNode, place_of, recirculates,
};
use super::routes::Graph;
use super::validate::{FASTEST, LONGEST, invalid, within};
use super::{ConfigError, FlowConfig, RunConfig, TransfersFlow};
use crate::wire::{IpAddress, flow_of};
use sojourn_switch::tm::link_trace::LinkTrace;
use sojourn_switch::{CELL, MOST_POOLS};
use std::collections::{BTreeMap, BTreeSet};

/// Links of a switch.
const MOST_PORTS: usize = 64;
/// The number of a port has nine bits.
const LAST_PORT: u16 = 511;
/// Maximum number of pipes of a chip, with port numbers of nine bits.
const MOST_PIPES: u64 = 4;
const MOST_NODES: u64 = 10_000;
/// Tokens of a host's shaper, bytes.
const MOST_BURST: u64 = 1_000_000_000;
/// Packets that a host's shaper or delay holds.
const MOST_HELD: u64 = 100_000_000;
/// Milliseconds of a trace that have opportunities.
const MOST_OPPORTUNITIES: u64 = 2_000_000;
/// The last millisecond of a trace, some eleven days.
const LONGEST_TRACE: u64 = 1_000_000_000;
/// The longest delay of a link, 100 s.
const LONGEST_DELAY: u64 = 100_000_000_000;

impl RunConfig {
    /// Checks the network, and that its hosts are those of the flows.
    pub(super) fn check_network(&self) -> Result<(), ConfigError> {
        let network = &self.network;
        within("network.hosts (how many)", network.hosts.len() as u64, 2..=MOST_NODES)?;
        within("network.switches (how many)", network.switches.len() as u64, 1..=MOST_NODES)?;
        network.check_names()?;
        network.check_nodes()?;
        for (i, link) in network.links.iter().enumerate() {
            network.check_link(i, link)?;
        }
        network.check_ports()?;
        if let Some(limit) = self.netem.limit {
            within("netem.limit", limit.into(), 1..=MOST_HELD)?;
            if self.netem.at == NetemPlace::Behind {
                let allowed = "none with at = \"behind\", where nothing is held";
                return Err(invalid("netem.limit", limit, allowed));
            }
        }
        let graph = Graph::new(network);
        for (i, flow) in self.flows.iter().enumerate() {
            network.check_flow(&graph, i, flow)?;
        }
        let held_up = |link: &LinkSection| {
            link.rate.or(link.packets_per_second).is_some()
                || link.link_trace.is_some()
                || link.link_trace_back.is_some()
        };
        if network.links.iter().any(|link| held_up(link) && link.rows) {
            return Ok(());
        }
        let allowed = "at least one link with a rate, whose queues are measured";
        Err(invalid("network.links", "none has a rate", allowed))
    }
}

impl NetworkSection {
    /// The least rate that a host's link ever has towards its switch; none if it has that of the
    /// switch's port.
    pub(super) fn least_rate_of(&self, host: &str) -> Option<u64> {
        let link = self.links.iter().find(|l| l.between.iter().any(|end| end == host))?;
        let back = link.between[1] == host && link.rate_back.is_some();
        let rate = if back { link.rate_back } else { link.rate };
        let step = |step: &LinkStep| if back { step.rate_back } else { step.rate };
        link.schedule.iter().filter_map(step).chain(rate).min()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let hosts = self.hosts.iter().map(|host| host.name.as_str());
        hosts.chain(self.switches.iter().map(|switch| switch.name.as_str()))
    }

    fn check_names(&self) -> Result<(), ConfigError> {
        let mut seen = BTreeSet::new();
        for name in self.names() {
            let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
            if !starts || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                let allowed = "a letter, then letters, digits and _";
                return Err(invalid("network: a name", format!("`{name}`"), allowed));
            }
            if !seen.insert(name) {
                return Err(invalid("network: a name", format!("`{name}`"), "each name once"));
            }
        }
        Ok(())
    }

    fn check_nodes(&self) -> Result<(), ConfigError> {
        self.hosts.iter().try_for_each(check_host)?;
        self.check_addresses()?;
        self.switches.iter().try_for_each(|switch| self.check_switch(switch))
    }

    /// No address belongs to two hosts, and none to a host and a flow of a group of hosts.
    fn check_addresses(&self) -> Result<(), ConfigError> {
        let (mut v4, mut v6, mut groups) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for host in &self.hosts {
            let key = |what: &str| format!("network.hosts: {}: {what}", host.name);
            match host.addresses {
                Addresses::Own { ipv4, .. } if !v4.insert(ipv4) => {
                    return Err(invalid(&key("address"), ipv4, "one that no other host has"));
                }
                Addresses::Own { ipv6, .. } if !v6.insert(ipv6) => {
                    return Err(invalid(&key("address"), ipv6, "one that no other host has"));
                }
                Addresses::Own { .. } => {}
                group if groups.contains(&group) => {
                    let allowed = "one group of clients and one of servers at most";
                    return Err(invalid(&key("addresses"), "another group", allowed));
                }
                group => groups.push(group),
            }
        }
        for host in &self.hosts {
            let Addresses::Own { ipv4, ipv6 } = host.addresses else { continue };
            let taken = [IpAddress::V4(ipv4), IpAddress::V6(ipv6)].into_iter().find(|address| {
                flow_of(*address).is_some_and(|(_, role)| groups.contains(&role.group()))
            });
            if taken.is_some() {
                let key = format!("network.hosts: {}: addresses", host.name);
                let allowed = "ones that no flow has in a group of hosts";
                return Err(invalid(&key, format!("{ipv4}, {ipv6}"), allowed));
            }
        }
        Ok(())
    }

    fn check_switch(&self, switch: &SwitchNode) -> Result<(), ConfigError> {
        let key = |name: &str| format!("network.switches: {}: {name}", switch.name);
        let second = 1_000_000_000;
        within(&key("port_speed"), switch.port_speed, 1_000..=FASTEST)?;
        within(&key("ingress_latency"), switch.ingress_latency, 0..=second)?;
        within(&key("egress_latency"), switch.egress_latency, 0..=second)?;
        within(&key("recirculation_rate"), switch.recirculation_rate, 1_000..=FASTEST)?;
        within(&key("recirculation_latency"), switch.recirculation_latency, 0..=second)?;
        within(&key("cpu_port"), switch.cpu_port.unwrap_or(0).into(), 0..=511)?;
        if let Some(aqm) = &switch.aqm {
            aqm.check()?;
        }
        check_multipath(&key, switch.multipath.as_ref())?;
        let Some(buffer) = &switch.shared_buffer else { return Ok(()) };
        within(&key("shared_buffer.size"), buffer.size, 1_600..=1 << 36)?;
        let pools = buffer.pools.iter().map(|pool| pool.alpha);
        for alpha in std::iter::once(buffer.alpha).chain(pools) {
            within(&key("shared_buffer.alpha (thousandths)"), alpha.into(), 1..=1_024_000)?;
        }
        self.check_pools(switch, buffer)?;
        if let Some(PauseSection { xoff: None, alpha, .. }) = buffer.pfc {
            within(&key("shared_buffer.pfc.alpha (thousandths)"), alpha.into(), 1..=1_024_000)?;
        }
        Ok(())
    }

    /// Pools, guaranteed bytes and headroom leave a cell at least for the other queues.
    fn check_pools(&self, switch: &SwitchNode, buffer: &SharedBuffer) -> Result<(), ConfigError> {
        let key = format!("network.switches: {}: shared_buffer", switch.name);
        if buffer.pools.len() >= MOST_POOLS {
            let allowed = format!("{} at most", MOST_POOLS - 1);
            return Err(invalid(&format!("{key}.pools"), buffer.pools.len(), allowed));
        }
        let queues = self.links.iter().filter(|link| link.between.contains(&switch.name)).count();
        let own = buffer.guaranteed.saturating_add(buffer.headroom);
        let pools = buffer.pools.iter().map(|pool| pool.size);
        let taken = pools.fold(own.saturating_mul(queues as u64), u64::saturating_add);
        if taken.saturating_add(CELL.0) > buffer.size {
            let allowed = format!(
                "more than the {taken} bytes of its pools and of guaranteed and headroom of {queues} queues"
            );
            return Err(invalid(&format!("{key}.size"), buffer.size, allowed));
        }
        Ok(())
    }

    fn check_link(&self, i: usize, link: &LinkSection) -> Result<(), ConfigError> {
        let key = |name: &str| format!("network.links[{i}].{name}");
        let fastest = self.check_ends(&key, link)?;
        self.check_rates(&key, link, fastest)?;
        for delay in [Some(link.delay), link.delay_back].into_iter().flatten() {
            within(&key("delay"), delay, 0..=LONGEST_DELAY)?;
        }
        self.check_traces(&key, link)?;
        for (name, netem, back) in
            [("netem", link.netem, false), ("netem_back", link.netem_back, true)]
        {
            let Some(netem) = netem else { continue };
            netem.check(&key(name), link.is_delayed(back))?;
        }
        within(&key("burst"), link.burst, 1..=1 << 32)?;
        within(&key("queue_limit"), link.queue_limit, 1_600..=1 << 40)?;
        check_schedule(&key("schedule"), &link.schedule, fastest)?;
        self.check_scheduled_keys(&key("schedule"), link)
    }

    /// Checks that a link joins two nodes, one of them a switch; returns the rate of the slower port.
    fn check_ends(
        &self,
        key: &dyn Fn(&str) -> String,
        link: &LinkSection,
    ) -> Result<u64, ConfigError> {
        for name in &link.between {
            if !self.names().any(|known| known == name) {
                let known: Vec<_> = self.names().collect();
                let allowed = format!("names of hosts and switches: {}", known.join(", "));
                return Err(invalid(&key("between"), format!("`{name}`"), allowed));
            }
        }
        let switches = self.switches.iter().filter(|switch| link.between.contains(&switch.name));
        let fastest = switches.map(|switch| switch.port_speed).min();
        let [a, b] = &link.between;
        fastest.filter(|_| a != b).ok_or_else(|| {
            let allowed = "two different nodes, one of them a switch";
            invalid(&key("between"), format!("{a}, {b}"), allowed)
        })
    }

    fn check_rates(
        &self,
        key: &dyn Fn(&str) -> String,
        link: &LinkSection,
        fastest: u64,
    ) -> Result<(), ConfigError> {
        let has_access_rate = |name: &String| {
            let host = self.hosts.iter().find(|host| host.name == *name);
            host.is_some_and(|host| host.access_rate.is_some())
        };
        if link.rate_back.is_some() && link.between.iter().any(has_access_rate) {
            let allowed = "not beside the access_rate of a host, which is what it sends at";
            return Err(invalid(&key("rate_back"), "given", allowed));
        }
        if link.rate.is_none() && link.rate_back.is_some() {
            return Err(invalid(&key("rate_back"), "given", "only beside rate"));
        }
        if let Some(rate) = link.packets_per_second {
            within(&key("packets_per_second"), rate, 1..=1_000_000_000)?;
        }
        for rate in [link.rate, link.rate_back].into_iter().flatten() {
            within(&key("rate"), rate, 1_000..=fastest)?;
        }
        Ok(())
    }

    /// A schedule changes only what the link has, and takes down only links between switches.
    fn check_scheduled_keys(&self, key: &str, link: &LinkSection) -> Result<(), ConfigError> {
        let any = |sets: fn(&LinkStep) -> bool| link.schedule.iter().any(sets);
        let is_host = |end: &String| self.hosts.iter().any(|host| host.name == *end);
        if any(|step| step.up.is_some()) && link.between.iter().any(is_host) {
            return Err(invalid(key, "up", "up only of a link between two switches"));
        }
        let sets_rate = any(|step| step.rate.is_some() || step.rate_back.is_some());
        if link.rate.is_none() && sets_rate {
            return Err(invalid(key, "a rate", "rates only if the link has a rate"));
        }
        if link.rate_back.is_none() && any(|step| step.rate_back.is_some()) {
            return Err(invalid(key, "rate_back", "rate_back only if the link has one"));
        }
        if link.delay_back.is_none() && any(|step| step.delay_back.is_some()) {
            return Err(invalid(key, "delay_back", "delay_back only if the link has one"));
        }
        Ok(())
    }

    fn check_traces(
        &self,
        key: &dyn Fn(&str) -> String,
        link: &LinkSection,
    ) -> Result<(), ConfigError> {
        let traces =
            [("link_trace", &link.link_trace, 0), ("link_trace_back", &link.link_trace_back, 1)];
        for (name, trace, end) in traces {
            let Some(trace) = trace else { continue };
            if link.rate.is_some() || link.packets_per_second.is_some() {
                let allowed = "a trace or a rate, not both";
                return Err(invalid(&key(name), "given beside a rate", allowed));
            }
            if !self.switches.iter().any(|switch| switch.name == link.between[end]) {
                let allowed = format!("none: {} is no switch and has no queue", link.between[end]);
                return Err(invalid(&key(name), "given", allowed));
            }
            within(&key(name), trace.len() as u64, 1..=MOST_OPPORTUNITIES)?;
            if trace.last().is_some_and(|(last, _)| *last > LONGEST_TRACE)
                || LinkTrace::new(trace.clone()).is_none()
            {
                let allowed = "increasing milliseconds up to 10^9, each with a count above 0, the \
                               last above 0";
                return Err(invalid(&key(name), "not so", allowed));
            }
        }
        Ok(())
    }

    fn check_ports(&self) -> Result<(), ConfigError> {
        let links = |name: &str| {
            self.links.iter().filter(|link| link.between.iter().any(|end| end == name)).count()
        };
        for host in &self.hosts {
            let count = links(&host.name);
            if count != 1 {
                let key = format!("network.hosts: {}: links", host.name);
                return Err(invalid(&key, count, "exactly one link a host"));
            }
        }
        for switch in &self.switches {
            let count = links(&switch.name);
            if count > MOST_PORTS {
                let key = format!("network.switches: {}: links", switch.name);
                return Err(invalid(&key, count, format!("at most {MOST_PORTS}")));
            }
            let key = format!("network.switches: {}: pipes", switch.name);
            within(&key, self.pipes_of(switch).into(), 1..=MOST_PIPES)?;
        }
        self.check_port_numbers()
    }

    /// Every port of a switch has a number of its own, which a cable can have.
    fn check_port_numbers(&self) -> Result<(), ConfigError> {
        let mut taken: BTreeMap<(&str, u16), usize> = BTreeMap::new();
        for (i, (link, numbers)) in self.links.iter().zip(self.port_numbers()).enumerate() {
            let given = [("port", link.port), ("port_back", link.port_back)];
            let mut keys = given.into_iter();
            for (end, number) in link.between.iter().zip(numbers) {
                let Some(number) = number else { continue };
                let (name, given) = keys.next().unwrap_or(("port", None));
                let key = format!("network.links[{i}].{name}");
                self.check_port_number(&key, end, number, given.is_some())?;
                if let Some(other) = taken.insert((end.as_str(), number), i) {
                    let numbered = if given.is_some() { "given" } else { "by place" };
                    let value = format!("{number} of {end} ({numbered})");
                    let allowed = format!("another number than that of links[{other}]");
                    return Err(invalid(&key, value, allowed));
                }
            }
            if let Some((name, Some(_))) = keys.next() {
                let key = format!("network.links[{i}].{name}");
                return Err(invalid(&key, "given", "only between two switches"));
            }
        }
        for switch in &self.switches {
            let key = || format!("network.switches: {}: cpu_port", switch.name);
            if let Some(port) = switch.cpu_port
                && (recirculates(port) || taken.contains_key(&(switch.name.as_str(), port)))
            {
                return Err(invalid(
                    &key(),
                    port,
                    "a port that has no link and does not recirculate",
                ));
            }
        }
        Ok(())
    }

    fn check_port_number(
        &self,
        key: &str,
        switch: &str,
        number: u16,
        given: bool,
    ) -> Result<(), ConfigError> {
        if given && recirculates(number) {
            let allowed = "none of 68 to 71 of a pipe, which come back into ingress";
            return Err(invalid(key, number, allowed));
        }
        let pipes = self.switches.iter().find(|node| node.name == switch);
        let pipes = pipes.map_or(1, |node| self.pipes_of(node));
        let last = LAST_PORT.min(pipes.saturating_mul(PIPE_PORTS).saturating_sub(1));
        within(key, number.into(), 0..=last.into())
    }

    fn check_flow(&self, graph: &Graph, i: usize, flow: &FlowConfig) -> Result<(), ConfigError> {
        let common = flow.common();
        let host = |key: &str, name: Option<&str>, group| {
            place_of(&self.hosts, name, group).ok_or_else(|| {
                let known: Vec<_> = self.hosts.iter().map(|host| host.name.as_str()).collect();
                let value = name.map_or("missing".into(), |name| format!("`{name}`"));
                let allowed = format!("one of the hosts {}", known.join(", "));
                invalid(&format!("flows[{i}].{key}"), value, allowed)
            })
        };
        let from = host("from", common.from, Addresses::Clients)?;
        let to = host("to", common.to, Addresses::Servers)?;
        let names = format!("{} to {}", self.hosts[from].name, self.hosts[to].name);
        if let FlowConfig::Transfers(transfers) = flow {
            self.check_receivers(graph, i, from, transfers)?;
        }
        if from == to {
            return Err(invalid(&format!("flows[{i}]"), names, "two different hosts"));
        }
        if !graph.connects(from, to) {
            let allowed = "hosts between which links lead through switches";
            return Err(invalid(&format!("flows[{i}]"), names, allowed));
        }
        Ok(())
    }

    /// Each receiver of a source of transfers is another host that links lead to.
    fn check_receivers(
        &self,
        graph: &Graph,
        i: usize,
        from: usize,
        transfers: &TransfersFlow,
    ) -> Result<(), ConfigError> {
        let key = || format!("flows[{i}].receivers");
        within(&key(), transfers.receivers.len() as u64, 0..=MOST_NODES)?;
        for name in &transfers.receivers {
            let to = place_of(&self.hosts, Some(name), Addresses::Servers);
            if !to.is_some_and(|to| to != from && graph.connects(from, to)) {
                let allowed = "other hosts that links lead to, and back";
                return Err(invalid(&key(), format!("`{name}`"), allowed));
            }
        }
        Ok(())
    }
}

fn check_multipath(
    key: &dyn Fn(&str) -> String,
    multipath: Option<&Multipath>,
) -> Result<(), ConfigError> {
    match multipath {
        Some(Multipath { mode: MultipathMode::Flowlet, gap, .. }) => {
            within(&key("multipath.gap"), gap.unwrap_or(0), 1..=LONGEST_DELAY)
        }
        Some(Multipath { gap: Some(gap), .. }) => {
            Err(invalid(&key("multipath.gap"), gap, "given with flowlets only"))
        }
        _ => Ok(()),
    }
}

fn check_host(host: &HostSection) -> Result<(), ConfigError> {
    let key = |what: &str| format!("network.hosts: {}: {what}", host.name);
    if let Some(rate) = host.access_rate {
        within(&key("access_rate"), rate, 1_000..=FASTEST)?;
    }
    if let Some(shaper) = &host.shaper {
        within(&key("shaper.rate"), shaper.rate, 1_000..=FASTEST)?;
        within(&key("shaper.burst"), shaper.burst, 1_514..=MOST_BURST)?;
        within(&key("shaper.limit"), shaper.limit.into(), 1..=MOST_HELD)?;
    }
    Ok(())
}

/// A schedule goes forward, changes something at each step, and keeps to the ranges.
fn check_schedule(key: &str, schedule: &[LinkStep], fastest: u64) -> Result<(), ConfigError> {
    let mut before = None;
    for (n, step) in schedule.iter().enumerate() {
        let key = |name: &str| format!("{key}[{n}].{name}");
        within(&key("at"), step.at, 1..=LONGEST)?;
        if before.is_some_and(|before| step.at <= before) {
            let allowed = format!("later than the step before it, at {} ns", before.unwrap_or(0));
            return Err(invalid(&key("at"), step.at, allowed));
        }
        before = Some(step.at);
        for rate in [step.rate, step.rate_back].into_iter().flatten() {
            within(&key("rate"), rate, 1_000..=fastest)?;
        }
        for delay in [step.delay, step.delay_back].into_iter().flatten() {
            within(&key("delay"), delay, 0..=LONGEST_DELAY)?;
        }
        let changed = step.rate.or(step.rate_back).or(step.delay).or(step.delay_back);
        if changed.is_none() && step.up.is_none() {
            return Err(invalid(&key("at"), step.at, "a step with a rate, a delay or up"));
        }
        if let Some(reroute) = step.reroute {
            within(&key("reroute"), reroute, 0..=LONGEST_DELAY)?;
            if step.up.is_none() {
                return Err(invalid(&key("reroute"), reroute, "given with up only"));
            }
        }
    }
    Ok(())
}
