//! Measurement: the rows, captured frames and counters of a switch.
//!
//! Nothing here has an effect on any packet.

use super::{ObservationFlags, Switch, multithreaded};
use crate::discipline::DropKind;
use crate::ecn;
use crate::observation::{CapturePoint, CapturedFrame, PacketObservation, Verdict};
use crate::statistics::{
    BufferStatistics, Count, PortStatistics, QueueStatistics, RecirculationStatistics, Statistics,
};
use crate::tm::pause_counter::PauseStatistics;
use crate::tm::port::Port;
use crate::tm::queued_packet::Queued;
use crate::tm::shaper::TokenBucket;
use sojourn_packet::PortId;
use sojourn_packet::{Bytes, FaultReport, Time};

impl Switch {
    /// Everything counted so far.
    pub fn statistics(&self) -> Statistics {
        let pauses = |place| self.pauses.as_ref().map(|pauses| pauses.statistics(self.now, place));
        let statistics = |(place, port)| PortStatistics {
            pauses: pauses(place).unwrap_or_default(),
            ..port_statistics(port)
        };
        let ports: Vec<PortStatistics> = self.ports.iter().enumerate().map(statistics).collect();
        let front = || self.ports.iter().filter(|p| p.recirculation.is_none());
        let received = front().fold(Count::default(), |sum, p| sum.plus(p.received));
        let sent = front().fold(Count::default(), |sum, p| sum.plus(p.sent));
        let mut mirror = self.mirror.statistics;
        mirror.held = self.mirror.held() as u64;
        Statistics {
            now: self.now,
            received,
            generated: self.generated,
            sent,
            ingress: self.ingress_statistics,
            egress_parser_rejected: self.egress_parser_rejected,
            ports,
            mirror,
            recirculation: RecirculationStatistics {
                elapsed: self.now,
                received_bytes: received.bytes,
                ..self.recirculation
            },
            rounds_dropped: self.rounds.dropped,
            buffer: BufferStatistics {
                total_cells: self.buffer.total(),
                cells: self.buffer.usage().cells,
                peak_cells: self.buffer.usage().peak,
            },
            depth_reports: self.reports.as_ref().map(|reports| reports.statistics()),
            flow_control: self.flow_control.statistics,
            faults: self.faults(),
            held: self.held(),
        }
    }

    /// Faults by kind: of the data plane, of the disciplines, and of packets that loop for ever.
    pub fn faults(&self) -> Vec<FaultReport> {
        let queues = self.ports.iter().flat_map(|port| &port.queues);
        let mut faults = self.plane.faults();
        faults.extend(queues.flat_map(|queue| queue.discipline.faults()));
        faults.extend(self.rounds.fault());
        faults
    }

    /// The reason to end the run, if a discipline has given one.
    #[inline]
    pub fn halted(&self) -> Option<&str> {
        self.drops.halted()
    }

    fn held(&self) -> u64 {
        let in_ports = |p: &Port| {
            p.returning.len() + p.queues.iter().map(|q| q.discipline.packets()).sum::<usize>()
        };
        let in_ports: usize = self.ports.iter().map(in_ports).sum();
        let inside = self.passes.as_ref().map_or(0, multithreaded::Passes::inside);
        (inside
            + self.admitted.len()
            + self.resubmitted.len()
            + self.returned.len()
            + self.mirror.held()
            + in_ports) as u64
    }

    /// Counts what a queue operation dropped and gives its room back.
    pub(super) fn settle_drops(&mut self, index: usize, number: usize) {
        if !self.drops.is_empty() {
            self.settle_each(index, number);
        }
    }

    #[cold]
    fn settle_each(&mut self, index: usize, number: usize) {
        let mut drops = std::mem::take(&mut self.drops);
        for (mut packet, kind) in drops.drain() {
            let queue = &mut self.ports[index].queues[number];
            queue.settle(&packet, kind, &mut self.buffer);
            if let Some(pauses) = &mut self.pauses {
                pauses.note_exit(self.now, &packet, &self.buffer);
            }
            if kind == DropKind::Tail {
                // A packet that was never queued spent no time there.
                packet.enqueued = self.now;
                self.uncount_mirrored(&packet);
            }
            let verdict = match kind {
                DropKind::Tail => Verdict::Tail,
                DropKind::Aqm => Verdict::Aqm,
            };
            self.observe(index, number, &packet, verdict);
            self.places.release(packet);
        }
        self.drops = drops;
    }

    fn uncount_mirrored(&mut self, packet: &Queued) {
        if packet.tag.mirror_requested.is_copy() {
            let statistics = &mut self.mirror.statistics;
            statistics.tail_drops += 1;
            statistics.mirrored.packets -= 1;
            statistics.mirrored.bytes -= packet.size().0;
        }
    }

    /// The egress pass of a mirrored copy has run.
    #[cold]
    pub(super) fn note_synchronised(&mut self, packet: &Queued) {
        let Some(requested) = packet.tag.mirror_requested.time() else { return };
        let span = self.now.saturating_sub(requested);
        let unsynchronised = &mut self.mirror.statistics.unsynchronised;
        unsynchronised.total += span;
        unsynchronised.max = unsynchronised.max.max(span);
        unsynchronised.count += 1;
    }

    /// Writes a row, if the port is observed.
    pub(super) fn observe(
        &mut self,
        index: usize,
        queue: usize,
        packet: &Queued,
        verdict: Verdict,
    ) {
        let port = &self.ports[index];
        if port.observed && is_original(packet) {
            self.observations.rows.push(row(port, queue, packet, self.now, verdict));
        }
    }

    /// Writes the row of a packet that the program has dropped in ingress: queue managements that
    /// decide before the queue do, and programs that forward it nowhere.
    ///
    /// Its output port is unknown. Observed ports are bottlenecks, so the drop counts for the first
    /// of them, but never for the input port.
    pub(super) fn observe_ingress_drop(&mut self, came_by: PortId, mut packet: Queued) {
        let bottleneck = |port: &Port| port.observed && port.id != came_by;
        let is_new = packet.tag.from_wire;
        if let (Some(index), true) = (self.ports.iter().position(bottleneck), is_new) {
            packet.enqueued = self.now;
            self.observe(index, 0, &packet, Verdict::Ingress);
        }
    }

    /// Keeps the frame of a packet that comes to a queue, if the port captures.
    #[inline(always)]
    pub(super) fn capture_entry(&mut self, index: usize, packet: &Queued) {
        if self.observation_flags.frames && self.ports[index].capture {
            self.capture_arrived(index, packet);
        }
    }

    #[cold]
    fn capture_arrived(&mut self, index: usize, packet: &Queued) {
        if let Some(frame) = &packet.tag.arrived {
            let (time, point) = (self.now, CapturePoint::Entered);
            let (port, packet) = (self.ports[index].id, (**frame).clone());
            self.observations.frames.push(CapturedFrame { time, point, port, packet });
        }
    }
}

/// Observations of packets at ports that were not collected yet.
#[derive(Debug, Default)]
pub(super) struct Observations {
    /// In the order of time.
    pub(super) rows: Vec<PacketObservation>,
    /// In theirs.
    pub(super) frames: Vec<CapturedFrame>,
}

impl Observations {
    /// Writes the row, and the frame, of a packet that leaves, and counts its mark.
    #[inline(always)]
    pub(super) fn sent(
        &mut self,
        now: Time,
        port: &mut Port,
        queue: usize,
        packet: &Queued,
        observation_flags: ObservationFlags,
    ) {
        let marked =
            observation_flags.marks && !packet.tag.arrived_marked && ecn::is_marked(&packet.packet);
        if marked {
            port.queues[queue].statistics.marked.add(packet.size());
        }
        if port.observed && is_original(packet) {
            let verdict = if marked { Verdict::Mark } else { Verdict::Sent };
            self.rows.push(row(port, queue, packet, now, verdict));
        }
        if port.capture {
            let (time, point, port) = (now, CapturePoint::Left, port.id);
            self.frames.push(CapturedFrame { time, point, port, packet: packet.packet.clone() });
        }
    }
}

/// True of a packet that no mirror session and no packet generator has made: rows are of these.
#[inline]
fn is_original(packet: &Queued) -> bool {
    !packet.tag.mirror_requested.is_copy() && !packet.packet.id.is_generated()
}

/// The row of a packet whose fate at a port is decided.
#[inline(always)]
fn row(
    port: &Port,
    queue: usize,
    packet: &Queued,
    now: Time,
    verdict: Verdict,
) -> PacketObservation {
    PacketObservation {
        packet: packet.packet.id,
        flow: packet.packet.flow,
        size: Bytes(u64::from(packet.tag.arrived_length)),
        port: port.id,
        queue: queue as u8,
        enqueued: packet.enqueued,
        dequeued: now,
        verdict,
    }
}

fn port_statistics(port: &Port) -> PortStatistics {
    let effective = |bucket: &Option<TokenBucket>| bucket.as_ref().map(TokenBucket::effective);
    let queue = |q: &crate::tm::queue::Queue| QueueStatistics {
        packets: q.discipline.packets() as u64,
        cells: q.share.usage().cells,
        peak_cells: q.share.usage().peak,
        min_shaper: effective(&q.min_shaper),
        max_shaper: effective(&q.max_shaper),
        paused: q.is_paused(),
        ..q.statistics
    };
    PortStatistics {
        port: port.id,
        received: port.received,
        sent: port.sent,
        shaper: effective(&port.shaper),
        recirculates: port.recirculation.is_some(),
        queues: port.queues.iter().map(queue).collect(),
        pauses: PauseStatistics::default(),
        discipline: port.queues[0].discipline.counters(),
    }
}
