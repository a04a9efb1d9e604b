//! Collection of a run's counters from the components that count.

use super::Simulation;
use super::closed_ends::host_totals;
use super::layout::{End, Layout, PortLayout};
use super::node::{Counters, Node};
use crate::report::{
    BottleneckReport, FlowReport, LinkLoad, RunReport, SpanReport, TelemetryReport,
};
use sojourn_packet::FaultReport;
use sojourn_switch::{Count, PauseStatistics, PortId, PortStatistics, ShapedRate, Statistics};

/// An observed port, as a report names it.
pub(super) struct Observed {
    switch: u16,
    port: PortId,
    /// The mean rate of its trace, bit/s; 0 without one.
    trace_rate: u64,
    /// Other end of its link.
    towards: String,
    /// The port that sends towards its switch: at the other end of its link, or if hosts are there its
    /// switch's first other port.
    way_back: Option<(u16, PortId)>,
}

/// A port and the other end of its link.
pub(super) struct LinkPort {
    switch: u16,
    port: PortId,
    towards: String,
    /// The port there; none of hosts, whose direction this port counts, too.
    far: Option<(u16, PortId)>,
}

/// The ports of all links, if there are several switches.
pub(super) fn link_ports(layout: &Layout) -> Vec<LinkPort> {
    let numbered = layout.switches.iter().zip(0_u16..).filter(|_| layout.switches.len() > 1);
    let ports = numbered.flat_map(|(of, switch)| of.ports.iter().map(move |port| (switch, port)));
    let link_port = |(switch, port): (u16, &PortLayout)| LinkPort {
        switch,
        port: port.id,
        towards: port.towards.clone(),
        far: match port.end {
            End::Switch(switch, port) => Some((switch, port)),
            End::Hosts(_) => None,
        },
    };
    ports.map(link_port).collect()
}

/// The observed ports, in the order of the layout.
pub(super) fn observed(layout: &Layout) -> Vec<Observed> {
    let observed = |&(switch, place): &(u16, usize)| {
        let ports = &layout.switches[usize::from(switch)].ports;
        let port = &ports[place];
        let other = || ports.iter().find(|other| other.id != port.id);
        let way_back = match port.end {
            End::Switch(switch, port) => Some((switch, port)),
            End::Hosts(_) => other().map(|other| (switch, other.id)),
        };
        let trace_rate = port.trace.as_ref().map_or(0, |trace| trace.mean_rate().0);
        Observed { switch, port: port.id, trace_rate, towards: port.towards.clone(), way_back }
    };
    layout.bottlenecks.iter().map(observed).collect()
}

impl Simulation {
    pub(super) fn make_report(&self) -> RunReport {
        let all: Vec<Statistics> = self.nodes().map(|node| node.switch.statistics()).collect();
        // Figures that are not given for each bottleneck are those of the first one and its way
        // back.
        let first = &self.observed[0];
        let forward = port_of(&all, first.switch, first.port);
        let reverse = first.way_back.map(|(switch, port)| port_of(&all, switch, port));
        let reverse = reverse.unwrap_or_default();
        let (shaper_rate, shaper_burst) = shaper_of(&forward);
        let counted = self.partitions.iter().map(|partition| &partition.counters);
        let sum = |of: fn(&Counters) -> u64| counted.clone().map(of).sum::<u64>();
        let mut report = RunReport {
            simulated: self.now().0,
            events: sum(|counters| counters.events - counters.shared),
            shaper_rate: shaper_rate.max(first.trace_rate),
            shaper_burst,
            forward_bytes: forward.sent.bytes,
            forward_packets: forward.sent.packets,
            reverse_bytes: reverse.sent.bytes,
            reverse_packets: reverse.sent.packets,
            reverse_drops: reverse.queues.iter().map(|queue| queue.tail_drops.packets).sum(),
            malformed_frames: sum(|counters| counters.malformed),
            stray_frames: sum(|counters| counters.stray),
            telemetry: self.telemetry(),
            frames_into_down_links: sum(|counters| counters.into_down_links),
            host_drops: self.partitions.iter().map(|partition| partition.send_path.dropped).sum(),
            bottlenecks: self.observed.iter().map(|o| self.bottleneck_report(&all, o)).collect(),
            links: self.link_reports(),
            link_loads: self.link_loads(&all),
            flows: self.flow_reports(),
            ..RunReport::default()
        };
        all.iter().for_each(|statistics| add_switch(&mut report, statistics));
        report.unroutable_first = self.nodes().zip(&all).find_map(|(node, statistics)| {
            let first = statistics.ingress.unroutable_first?;
            Some(format!("{}: {first}", node.name))
        });
        report.depth_reports = all.iter().find_map(|statistics| statistics.depth_reports);
        let mut flow_control = all.iter().map(|statistics| statistics.flow_control);
        report.flow_control = flow_control.find(|of| of.paused + of.resumed + of.no_queue > 0);
        report.faults = all.iter().flat_map(|statistics| &statistics.faults).cloned().collect();
        report.faults.extend(self.refused());
        let recirculating = &all[usize::from(first.switch)].recirculation;
        report.recirculated_share = recirculating.share_of_traffic();
        report.recirculation_utilisation = recirculating.share_of_capacity();
        report
    }

    /// What senders learnt of hops, if any has asked.
    fn telemetry(&self) -> Option<TelemetryReport> {
        let counted = self.partitions.iter().map(|partition| partition.counters.telemetry);
        let add = |sum: TelemetryReport, one: TelemetryReport| TelemetryReport {
            returned: sum.returned + one.returned,
            hops: sum.hops + one.hops,
        };
        Some(counted.fold(TelemetryReport::default(), add)).filter(|of| of.returned > 0)
    }

    /// All switches, in the order of the network.
    fn nodes(&self) -> impl Iterator<Item = &Node> {
        let locations = self.locations.switches.iter();
        locations.map(|location| &self.partitions[location.partition()].nodes[location.place()])
    }

    /// Rejected actions on switches, with the message of the first.
    fn refused(&self) -> Option<FaultReport> {
        let refused = || self.partitions.iter().filter_map(|partition| partition.refused.as_ref());
        let first = refused().min_by_key(|refused| refused.at)?;
        Some(FaultReport {
            kind: "refused",
            count: refused().map(|refused| refused.count).sum(),
            first: first.why.clone(),
            place: None,
        })
    }

    fn bottleneck_report(&self, all: &[Statistics], observed: &Observed) -> BottleneckReport {
        let port = port_of(all, observed.switch, observed.port);
        let (shaper_rate, shaper_burst) = shaper_of(&port);
        let name = self.nodes().nth(usize::from(observed.switch)).map(|node| node.name.clone());
        BottleneckReport {
            switch: name.unwrap_or_default(),
            towards: observed.towards.clone(),
            shaper_rate: shaper_rate.max(observed.trace_rate),
            shaper_burst,
            bytes: port.sent.bytes,
            packets: port.sent.packets,
            discipline: port.discipline.into_iter().collect(),
        }
    }

    fn link_loads(&self, all: &[Statistics]) -> Vec<LinkLoad> {
        let names: Vec<&str> = self.nodes().map(|node| node.name.as_str()).collect();
        let mut loads = Vec::new();
        for link in &self.link_ports {
            let port = port_of(all, link.switch, link.port);
            let (switch, far) = (names[usize::from(link.switch)], link.towards.as_str());
            let load = |from: &str, to: &str, count: Count, there: PauseStatistics| LinkLoad {
                from: from.into(),
                to: to.into(),
                frames: count.packets,
                bytes: count.bytes,
                pauses: there.pauses,
                paused: there.paused.0,
                beyond_headroom: there.beyond_headroom,
            };
            let there = link.far.map(|(switch, port)| port_of(all, switch, port).pauses);
            loads.push(load(switch, far, port.sent, there.unwrap_or_default()));
            if link.far.is_none() {
                loads.push(load(far, switch, port.received, port.pauses));
            }
        }
        loads
    }

    /// The totals of each configured flow. A source of transfers is reported as all of them together.
    fn flow_reports(&self) -> Vec<FlowReport> {
        let mut reports = vec![FlowReport::default(); self.sources.configured()];
        for partition in &self.partitions {
            for state in &partition.host_states {
                let totals = host_totals(&state.host, state.id, partition.now);
                reports[state.source as usize].add(&totals);
            }
            for (source, totals) in &partition.closed_ends.totals {
                reports[*source as usize].add(totals);
            }
        }
        reports
    }
}

fn port_of(all: &[Statistics], switch: u16, port: PortId) -> PortStatistics {
    let mut ports = all[usize::from(switch)].ports.iter();
    ports.find(|found| found.port == port).cloned().unwrap_or_default()
}

/// Rate and burst as hardware has them; 0 without a shaper.
fn shaper_of(port: &PortStatistics) -> (u64, u64) {
    port.shaper.map_or((0, 0), |shaper| {
        let ShapedRate::Bits(rate) = shaper.rate else { return (0, shaper.burst) };
        (rate.0, shaper.burst)
    })
}

/// Adds a switch's counters other than those of its ports.
fn add_switch(report: &mut RunReport, statistics: &Statistics) {
    let (mirror, ingress) = (&statistics.mirror, &statistics.ingress);
    let recirculated = &statistics.recirculation.recirculated;
    let loops = statistics.ports.iter().filter(|port| port.recirculates);
    let used_up = loops.flat_map(|port| &port.queues).map(|queue| queue.egress_drops.packets);
    report.mirrored_packets += mirror.mirrored.packets;
    report.mirrored_bytes += mirror.mirrored.bytes;
    report.mirror_drops += mirror.drops();
    report.recirculated_packets += recirculated.packets;
    report.recirculated_bytes += recirculated.bytes;
    report.recirculation_drops += used_up.sum::<u64>();
    report.generated_packets += statistics.generated.packets;
    report.generated_bytes += statistics.generated.bytes;
    let spans: &mut SpanReport = &mut report.unsynchronised;
    spans.count += mirror.unsynchronised.count;
    spans.total += mirror.unsynchronised.total.0;
    spans.max = spans.max.max(mirror.unsynchronised.max.0);
    report.parser_errors += ingress.parser_rejected + statistics.egress_parser_rejected;
    report.ingress_drops += ingress.dropped.packets;
    report.unroutable_packets += ingress.unroutable.packets;
}
