//! What a run writes down: rows from the switch's observations, samples of flows, the report.

use super::{RECEIVERS, RECIRCULATION, SENDERS, Simulation};
use crate::records::{CapturePoint, CapturedFrame, Verdict};
use crate::report::{FlowReport, RunReport, SpanReport};
use sojourn_switch::{Count, Observation, PacketObservation, PortId, PortStatistics, ShapedRate};

impl Simulation {
    /// Writes down one observation of the switch.
    pub(super) fn record(&mut self, observation: Observation) {
        match observation {
            // A mirrored copy is no packet of a flow; the report counts it.
            Observation::Packet(packet) if packet.mirrored => {}
            Observation::Packet(packet) => self.record_packet(&packet),
            Observation::Entered(frame) => self.record_frame(CapturePoint::Entered, frame),
            Observation::Left(frame) => self.record_frame(CapturePoint::Left, frame),
        }
    }

    fn record_packet(&mut self, packet: &PacketObservation) {
        let verdict = match packet.verdict {
            sojourn_switch::Verdict::Sent => Verdict::Sent,
            sojourn_switch::Verdict::Aqm => Verdict::AqmDrop,
            sojourn_switch::Verdict::Tail => Verdict::TailDrop,
            sojourn_switch::Verdict::Mark => Verdict::Marked,
        };
        self.packets.packet.push(packet.packet.0);
        self.packets.flow.push(packet.flow.0);
        self.packets.size.push(packet.size.0 as u32);
        self.packets.queue.push(packet.queue);
        self.packets.enqueued.push(packet.enqueued.0);
        self.packets.dequeued.push(packet.dequeued.0);
        self.packets.verdict.push(verdict as u8);
    }

    fn record_frame(&mut self, point: CapturePoint, frame: sojourn_switch::CapturedFrame) {
        self.capture.push(CapturedFrame {
            time: frame.time.0,
            point,
            bytes: frame.packet.bytes.to_vec(),
            original_len: frame.packet.len().0 as u32,
        });
    }

    /// One row per flow that has started.
    pub(super) fn sample(&mut self) {
        for (flow, pair) in (0..).zip(self.stations.chunks_exact(2)) {
            let sample = pair[0].host.sample(self.now);
            if !sample.started {
                continue;
            }
            let rows = &mut self.flows;
            rows.time.push(self.now.0);
            rows.flow.push(flow);
            rows.cwnd.push(u32::try_from(sample.cwnd).unwrap_or(u32::MAX));
            rows.ssthresh.push(sample.ssthresh);
            rows.srtt.push(sample.srtt.0);
            rows.delivered.push(pair[1].host.delivered());
            rows.retransmits.push(sample.totals.retransmits);
            rows.in_flight.push(u32::try_from(sample.in_flight).unwrap_or(u32::MAX));
        }
    }

    pub(super) fn make_report(&self) -> RunReport {
        let statistics = self.switch.statistics();
        let port = |id: PortId| {
            statistics.ports.iter().find(|port| port.port == id).cloned().unwrap_or_default()
        };
        let (forward, reverse): (PortStatistics, PortStatistics) = (port(RECEIVERS), port(SENDERS));
        let mirror = &statistics.mirror;
        let recirculated: Count = statistics.recirculation.recirculated;
        let (shaper_rate, shaper_burst) = forward.shaper.map_or((0, 0), |shaper| {
            let ShapedRate::Bits(rate) = shaper.rate else { return (0, shaper.burst) };
            (rate.0, shaper.burst)
        });
        RunReport {
            simulated: self.now.0,
            events: self.counters.events,
            mirrored_packets: mirror.mirrored.packets,
            mirrored_bytes: mirror.mirrored.bytes,
            mirror_drops: mirror.drops(),
            recirculated_packets: recirculated.packets,
            recirculated_bytes: recirculated.bytes,
            recirculated_share: statistics.recirculation.share_of_traffic(),
            recirculation_utilisation: statistics.recirculation.share_of_capacity(),
            recirculation_drops: port(RECIRCULATION)
                .queues
                .iter()
                .map(|q| q.egress_drops.packets)
                .sum(),
            unsynchronised: SpanReport {
                count: mirror.unsynchronised.count,
                total: mirror.unsynchronised.total.0,
                max: mirror.unsynchronised.max.0,
            },
            parser_errors: statistics.ingress.parser_rejected + statistics.egress_parser_rejected,
            ingress_drops: statistics.ingress.dropped.packets,
            unroutable_packets: statistics.ingress.unroutable.packets,
            shaper_rate,
            shaper_burst,
            forward_bytes: forward.sent.bytes,
            forward_packets: forward.sent.packets,
            reverse_bytes: reverse.sent.bytes,
            reverse_packets: reverse.sent.packets,
            reverse_drops: reverse.queues.iter().map(|queue| queue.tail_drops.packets).sum(),
            malformed_frames: self.counters.malformed,
            stray_frames: self.counters.stray,
            flows: self.flow_reports(),
        }
    }

    fn flow_reports(&self) -> Vec<FlowReport> {
        let report = |pair: &[super::Station]| FlowReport {
            delivered: pair[1].host.delivered(),
            ..pair[0].host.sample(self.now).totals
        };
        self.stations.chunks_exact(2).map(report).collect()
    }
}
