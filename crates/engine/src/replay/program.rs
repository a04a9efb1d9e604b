//! A P4 program under replay: both passes of each packet, and in between its mirrored copies and the
//! packets that the chip's generators make.
//!
//! Ingress runs at the departure time minus the sojourn time, so that the two passes' timestamps
//! differ by exactly the sojourn time; egress runs when the packet leaves the queue. On a chip that difference also contains the
//! few hundred nanoseconds of the ingress pipeline; here all AQMs receive the same sojourn time. A
//! copy passes through egress of its session's port a fixed time after the pass that requested it,
//! a generated packet as long after its ingress. There is no queue of these, and none is lost.

use super::depth_reports::Depths;
use super::frames::Frames;
use super::trace::{Decision, Dequeue};
use serde::Serialize;
use sojourn_control::MirrorSession;
use sojourn_net::SENDERS;
use sojourn_packet::{Bytes, FaultReport, Packet, Time};
use sojourn_packet::{
    DataPlane, EgressInput, EgressOutput, IngressInput, Mirror, PacketMetadata, PortId,
};
use sojourn_switch::Generators;
use std::collections::VecDeque;

/// Length of the frame check sequence, which the switch counts.
const FCS: u32 = 4;
/// Maximum number of passes of copies of copies between two packets of the trace: without latency, a
/// program whose copies are copied again would never reach the second one.
const MOST_PASSES: usize = 1_000;

/// Counters of mirrored copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Copies {
    /// Requested copies.
    pub requested: u64,
    /// Not made because the program named an unconfigured session.
    pub no_session: u64,
    /// Egress passes of copies.
    pub passes: u64,
}

/// A copy, a recirculated or a generated packet, in transit to an egress pass.
struct Returning {
    due: Time,
    /// It comes from a mirror session.
    mirrored: bool,
    port: PortId,
    queue: u8,
    packet: Packet,
    packet_metadata: PacketMetadata,
}

pub(super) struct Program {
    plane: Box<dyn DataPlane>,
    sessions: Vec<MirrorSession>,
    latency: Time,
    frames: Frames,
    generators: Generators,
    /// Ports that recirculate.
    recirculating: Vec<u16>,
    /// In the order of `due`: all of them have the same latency.
    returning: VecDeque<Returning>,
    /// Resubmitted packets with the time of their second ingress pass.
    resubmitted: VecDeque<(Time, Packet)>,
    copies: Copies,
    /// Depth reports, if the program takes them: it then decides in ingress.
    depths: Option<Depths>,
}

impl Program {
    pub fn new(plane: Box<dyn DataPlane>, sessions: Vec<MirrorSession>, latency: Time) -> Program {
        Program {
            plane,
            sessions,
            latency,
            frames: Frames::new(),
            generators: Generators::default(),
            recirculating: Vec::new(),
            returning: VecDeque::new(),
            resubmitted: VecDeque::new(),
            copies: Copies::default(),
            depths: None,
        }
    }

    /// A program that gets depth reports, if there are any.
    pub fn with_depths(self, depths: Option<Depths>) -> Program {
        Program { depths, ..self }
    }

    /// The program on a chip whose packet generators are set, and which recirculates at some ports.
    pub fn with_generators(self, generators: Generators, recirculating: Vec<u16>) -> Program {
        Program { generators, recirculating, ..self }
    }

    pub fn copies(&self) -> Copies {
        self.copies
    }

    pub fn faults(&self) -> Vec<FaultReport> {
        self.plane.faults()
    }

    /// The program's decision about a packet; `None` if ingress does not forward it.
    pub fn decide(&mut self, row: &Dequeue) -> Option<Decision> {
        let arrived = row.time.saturating_sub(row.sojourn);
        if self.depths.is_some() {
            return self.decide_before_queue(row, arrived);
        }
        self.catch_up(row.time);
        let unsynchronised = self.returning.iter().any(|packet| packet.mirrored);
        let input = IngressInput { port: SENDERS, arrived, now: arrived, resubmitted: false };
        let frame = self.frames.make(row.size);
        let admitted = self.plane.ingress(&input, frame);
        let (packet, port) = (admitted.packet?, admitted.admission.unicast?);
        let input = EgressInput {
            cos: admitted.admission.cos,
            enqueued: arrived,
            // The depth on arrival is not in the trace.
            enqueue_depth: row.cells,
            dequeue_depth: row.cells,
            enqueue_packets: row.packets,
            dequeue_packets: row.packets,
            ..self::input(port, admitted.admission.queue, row.time, &packet)
        };
        let out = self.plane.egress_carrying(&input, packet, admitted.packet_metadata);
        self.request(out.mirror, row.time);
        if let (true, Some(packet)) = (out.recirculate, &out.packet) {
            self.recirculate((port, true), packet.clone(), out.packet_metadata, row.time);
        }
        Some(Decision { dropped: out.packet.is_none(), unsynchronised })
    }

    /// The same of a program that drops before the queue. It sees the depths of the trace's queue,
    /// which its drops do not change.
    fn decide_before_queue(&mut self, row: &Dequeue, arrived: Time) -> Option<Decision> {
        while self.resubmitted.front().is_some_and(|(due, _)| *due <= arrived) {
            let Some((due, packet)) = self.resubmitted.pop_front() else { break };
            self.report_depths(due);
            let input = IngressInput { port: SENDERS, arrived: due, now: due, resubmitted: true };
            self.copies.passes += 1;
            self.plane.ingress(&input, packet);
        }
        self.report_depths(arrived);
        let unsynchronised = !self.resubmitted.is_empty();
        let input = IngressInput { port: SENDERS, arrived, now: arrived, resubmitted: false };
        let frame = self.frames.make(row.size);
        let admitted = self.plane.ingress(&input, frame);
        if let Some(packet) = admitted.resubmit {
            self.copies.requested += 1;
            self.resubmitted.push_back((arrived + self.latency, packet));
        }
        let depths = self.depths.as_mut()?;
        depths.pass(arrived, row.time, u64::from(row.size + FCS));
        if let Some(port) = admitted.admission.unicast {
            depths.place = Some((port, admitted.admission.queue));
        }
        let dropped = admitted.packet.is_none();
        depths.place.map(|_| Decision { dropped, unsynchronised })
    }

    fn report_depths(&mut self, now: Time) {
        if let Some(depths) = &mut self.depths {
            depths.deliver(now, |report| self.plane.depth_report(report));
        }
    }

    /// Runs the passes of packets that have returned and of generated ones by `now`, in the order of
    /// time.
    fn catch_up(&mut self, now: Time) {
        // The first pass of a waiting or a generated packet is always run.
        let mut allowed = MOST_PASSES + self.returning.len();
        loop {
            let due = self.returning.front().map(|copy| copy.due).filter(|due| *due <= now);
            let made = self.generators.next().filter(|at| *at <= now);
            match (due, made) {
                (due, Some(at)) if due.is_none_or(|due| at < due) => allowed += self.generate(at),
                (Some(_), _) if allowed > 0 => {
                    allowed -= 1;
                    self.return_next();
                }
                (_, Some(at)) => allowed += self.generate(at),
                _ => return,
            }
        }
    }

    /// Runs the ingress pass of packets that the generators make by `now`; returns their number.
    fn generate(&mut self, now: Time) -> usize {
        let mut generated = 0;
        while let Some((port, packet)) = self.generators.step(now) {
            generated += 1;
            self.enter((port, false), packet, PacketMetadata::default(), now);
        }
        generated
    }

    /// Runs the egress pass of the next packet that returns.
    fn return_next(&mut self) {
        let Some(copy) = self.returning.pop_front() else { return };
        self.copies.passes += u64::from(copy.mirrored);
        let input = EgressInput {
            enqueued: copy.due,
            mirrored: copy.mirrored,
            ..self::input(copy.port, copy.queue, copy.due, &copy.packet)
        };
        let EgressOutput { packet, mirror, packet_metadata, .. } =
            self.plane.egress_carrying(&input, copy.packet, copy.packet_metadata);
        self.request(mirror, copy.due);
        let comes_back = copy.mirrored || self.recirculating.contains(&copy.port.0);
        if let (Some(packet), true) = (packet, comes_back) {
            self.recirculate((copy.port, copy.mirrored), packet, packet_metadata, copy.due);
        }
    }

    /// A packet that egress forwarded enters ingress by its port, and then egress once more.
    fn recirculate(
        &mut self,
        (port, mirrored): (PortId, bool),
        packet: Packet,
        packet_metadata: PacketMetadata,
        now: Time,
    ) {
        self.generators.came_back(now, port, &packet);
        self.enter((port, mirrored), packet, packet_metadata, now);
    }

    /// Runs the ingress pass of a packet that no sender of the trace sent.
    fn enter(
        &mut self,
        (port, mirrored): (PortId, bool),
        packet: Packet,
        packet_metadata: PacketMetadata,
        now: Time,
    ) {
        let input = IngressInput { port, arrived: now, now, resubmitted: false };
        let admitted = self.plane.ingress_carrying(&input, packet, packet_metadata);
        if let (Some(packet), Some(port)) = (admitted.packet, admitted.admission.unicast) {
            let (due, queue) = (now + self.latency, admitted.admission.queue);
            let packet_metadata = admitted.packet_metadata;
            let returning = Returning { due, mirrored, port, queue, packet, packet_metadata };
            self.returning.push_back(returning);
        }
    }

    fn request(&mut self, mirror: Option<Mirror>, now: Time) {
        let Some(Mirror { session, mut packet, packet_metadata, .. }) = mirror else { return };
        self.copies.requested += 1;
        let Some(session) = self.sessions.iter().find(|known| known.session == session) else {
            self.copies.no_session += 1;
            return;
        };
        if let Some(length) = session.max_length.filter(|length| *length > 0) {
            packet.truncate(Bytes(u64::from(length)));
        }
        let Some(port) = session.port.map(PortId) else { return };
        let (due, queue) = (now + self.latency, session.queue);
        let returning = Returning { due, mirrored: true, port, queue, packet, packet_metadata };
        self.returning.push_back(returning);
    }
}

/// A packet without waiting time in an empty queue.
fn input(port: PortId, queue: u8, now: Time, packet: &Packet) -> EgressInput {
    EgressInput {
        port,
        queue,
        enqueued: now,
        dequeued: now,
        now,
        length: packet.len().0 as u32 + FCS,
        ..EgressInput::default()
    }
}
