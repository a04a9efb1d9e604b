//! The counters of a run, gathered where they are kept.

use super::layout::End;
use super::parts::{Bottleneck, HostState};
use super::{RECIRCULATION, Simulation};
use crate::report::{BottleneckReport, FlowReport, RunReport, SpanReport};
use sojourn_packet::FaultReport;
use sojourn_switch::{PortId, PortStatistics, ShapedRate, Statistics};

impl Simulation {
    pub(super) fn make_report(&self) -> RunReport {
        let all: Vec<Statistics> =
            self.region.nodes.iter().map(|n| n.switch.statistics()).collect();
        // What is not told for each bottleneck is told for the first one and its way back.
        let first = &self.region.bottlenecks[0];
        let forward = port_of(&all, first.switch, first.port);
        let reverse = self.way_back(first).map(|(switch, port)| port_of(&all, switch, port));
        let reverse = reverse.unwrap_or_default();
        let (shaper_rate, shaper_burst) = shaper_of(&forward);
        let mut report = RunReport {
            simulated: self.region.now.0,
            events: self.region.counters.events,
            shaper_rate,
            shaper_burst,
            forward_bytes: forward.sent.bytes,
            forward_packets: forward.sent.packets,
            reverse_bytes: reverse.sent.bytes,
            reverse_packets: reverse.sent.packets,
            reverse_drops: reverse.queues.iter().map(|queue| queue.tail_drops.packets).sum(),
            malformed_frames: self.region.counters.malformed,
            stray_frames: self.region.counters.stray,
            host_drops: self.region.counters.host_drops,
            bottlenecks: self
                .region
                .bottlenecks
                .iter()
                .map(|b| self.bottleneck_report(&all, b))
                .collect(),
            flows: self.flow_reports(),
            ..RunReport::default()
        };
        all.iter().for_each(|statistics| add_switch(&mut report, statistics));
        report.faults = all.iter().flat_map(|statistics| &statistics.faults).cloned().collect();
        report.faults.extend(self.region.refused.as_ref().map(|(count, first)| FaultReport {
            kind: "refused",
            count: *count,
            first: first.clone(),
            place: None,
        }));
        let recirculating = &all[usize::from(first.switch)].recirculation;
        report.recirculated_share = recirculating.share_of_traffic();
        report.recirculation_utilisation = recirculating.share_of_capacity();
        report
    }

    /// The port that sends towards the first bottleneck's switch: at the other end of its link, or
    /// if hosts are there its switch's first other port.
    fn way_back(&self, first: &Bottleneck) -> Option<(u16, PortId)> {
        let node = &self.region.nodes[usize::from(first.switch)];
        let wire = node.wires.iter().find(|wire| wire.port == first.port)?;
        match wire.end {
            End::Switch(switch, port) => Some((switch, port)),
            End::Hosts(_) => {
                let other = node.wires.iter().find(|wire| wire.port != first.port)?;
                Some((first.switch, other.port))
            }
        }
    }

    fn bottleneck_report(&self, all: &[Statistics], bottleneck: &Bottleneck) -> BottleneckReport {
        let node = &self.region.nodes[usize::from(bottleneck.switch)];
        let wire = node.wires.iter().find(|wire| wire.port == bottleneck.port);
        let port = port_of(all, bottleneck.switch, bottleneck.port);
        let (shaper_rate, shaper_burst) = shaper_of(&port);
        BottleneckReport {
            switch: node.name.clone(),
            towards: wire.map(|wire| wire.towards.clone()).unwrap_or_default(),
            shaper_rate,
            shaper_burst,
            bytes: port.sent.bytes,
            packets: port.sent.packets,
            discipline: port.discipline.into_iter().collect(),
        }
    }

    fn flow_reports(&self) -> Vec<FlowReport> {
        let report = |pair: &[HostState]| FlowReport {
            delivered: pair[1].host.delivered(),
            ..pair[0].host.sample(self.region.now).totals
        };
        let configured = 2 * self.region.transfers.first() as usize;
        let (own, transfers) = self.region.host_states.split_at(configured);
        let mut reports: Vec<FlowReport> = own.chunks_exact(2).map(report).collect();
        // A source of transfers is told as all of them together.
        for (pair, flow) in transfers.chunks_exact(2).zip(self.region.transfers.first()..) {
            let (source, one) = (self.region.transfers.source(flow), report(pair));
            let sum = &mut reports[source as usize];
            if sum.segments == 0 {
                sum.started = one.started;
            }
            sum.delivered += one.delivered;
            sum.segments += one.segments;
            sum.retransmits += one.retransmits;
            sum.timeouts += one.timeouts;
            sum.congestion_events += one.congestion_events;
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

/// Adds what a switch has counted beside its ports.
fn add_switch(report: &mut RunReport, statistics: &Statistics) {
    let (mirror, ingress) = (&statistics.mirror, &statistics.ingress);
    let recirculated = &statistics.recirculation.recirculated;
    let loops = statistics.ports.iter().filter(|port| port.port == RECIRCULATION);
    let used_up = loops.flat_map(|port| &port.queues).map(|queue| queue.egress_drops.packets);
    report.mirrored_packets += mirror.mirrored.packets;
    report.mirrored_bytes += mirror.mirrored.bytes;
    report.mirror_drops += mirror.drops();
    report.recirculated_packets += recirculated.packets;
    report.recirculated_bytes += recirculated.bytes;
    report.recirculation_drops += used_up.sum::<u64>();
    let spans: &mut SpanReport = &mut report.unsynchronised;
    spans.count += mirror.unsynchronised.count;
    spans.total += mirror.unsynchronised.total.0;
    spans.max = spans.max.max(mirror.unsynchronised.max.0);
    report.parser_errors += ingress.parser_rejected + statistics.egress_parser_rejected;
    report.ingress_drops += ingress.dropped.packets;
    report.unroutable_packets += ingress.unroutable.packets;
}
