//! What a run writes down: rows from the switch's observations, samples of flows.

use super::parts::Bottleneck;
use super::region::{HostId, Region};
use crate::host::Exchange;
use crate::records::{CapturePoint, CapturedFrame};
use sojourn_switch::Observation;

impl Bottleneck {
    /// Writes down one observation of its port; how many rows of packets that are.
    #[inline]
    pub(super) fn record(&mut self, observation: &Observation) -> usize {
        match observation {
            // A mirrored copy is no packet of a flow; the report counts it.
            Observation::Packet(packet) if packet.mirrored => return 0,
            Observation::Packet(packet) => self.rows.push(*packet),
            Observation::Entered(frame) => return self.record_frame(CapturePoint::Entered, frame),
            Observation::Left(frame) => return self.record_frame(CapturePoint::Left, frame),
        }
        1
    }

    #[cold]
    fn record_frame(
        &mut self,
        point: CapturePoint,
        frame: &sojourn_switch::CapturedFrame,
    ) -> usize {
        self.capture.push(CapturedFrame {
            time: frame.time.0,
            point,
            bytes: frame.packet.bytes.to_vec(),
            original_len: frame.packet.len().0 as u32,
        });
        0
    }
}

impl Region {
    /// One row per flow that has started.
    #[inline(never)]
    pub(super) fn sample(&mut self) {
        // Transfers are too many and too short to be sampled.
        let configured = &self.host_states[..2 * self.transfers.first() as usize];
        for (flow, pair) in (0..).zip(configured.chunks_exact(2)) {
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

    /// Writes down what a frame completed at its host.
    #[inline(never)]
    pub(super) fn record_delivery(&mut self, host: HostId) {
        let (flow, state) = (host.flow(), &mut self.host_states[host.0 as usize].host);
        let (done, arrived) = (state.take_exchange(), state.take_datagram());
        if let Some(done) = done {
            self.record_exchange(flow, &done);
        }
        if let Some(arrived) = arrived {
            let rows = &mut self.datagrams;
            rows.flow.push(flow);
            rows.number.push(arrived.number);
            rows.sent.push(arrived.sent.0);
            rows.received.push(arrived.received.0);
        }
    }

    #[cold]
    fn record_exchange(&mut self, flow: u32, exchange: &Exchange) {
        let rows = &mut self.exchanges;
        rows.flow.push(flow);
        rows.source.push(self.transfers.source(flow));
        rows.number.push(exchange.number);
        rows.size.push(exchange.size);
        rows.started.push(exchange.started.0);
        rows.finished.push(exchange.finished.0);
    }

    /// Writes down what the end of the run cuts short.
    pub(super) fn record_unfinished(&mut self) {
        for host in 0..self.host_states.len() {
            if let Some(exchange) = self.host_states[host].host.unfinished() {
                self.record_exchange(HostId(host as u32).flow(), &exchange);
            }
        }
    }
}
