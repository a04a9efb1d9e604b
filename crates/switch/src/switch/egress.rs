//! From a queue to a wire: the scheduler's turn, the egress pass, mirroring, recirculation.
//!
//! The egress pass runs after the scheduler: a packet that the program drops there has paid its
//! shaper tokens and holds its slot on the wire, which stays idle for that long. A native
//! discipline drops before, in the queue, and holds neither.

use super::ingress::note_arrival;
use super::{Event, RecirculatedPacket, Switch};
use crate::ecn;
use crate::observation::Verdict;
use crate::statistics::RecirculationStatistics;
use crate::tm::port::{Decision, Port};
use crate::tm::queued_packet::{Contents, Queued};
use crate::tm::scheduler::Turn;
use crate::tm::serializer::{INTER_FRAME_GAP, wire_bytes};
use sojourn_packet::{Bytes, Packet, Time};
use sojourn_packet::{EgressDecision, EgressFate, EgressInput, Mirror, PacketMetadata};

impl Switch {
    /// A port's timer has gone off; timers overtaken by an earlier one are ignored.
    pub(super) fn port_timer(&mut self, index: usize, at: Time) {
        if self.ports[index].wake == Some(at) {
            self.ports[index].wake = None;
            self.serve(index);
        }
    }

    /// Lets a port send as long as it can, and sets its timer for when it can again.
    pub(super) fn serve(&mut self, index: usize) {
        loop {
            match self.ports[index].decide(self.now) {
                Decision::Serve(turn) => self.take_turn(index, turn),
                Decision::Wait(until) => return self.wake(index, until),
                Decision::Idle => return,
            }
        }
    }

    fn wake(&mut self, index: usize, at: Time) {
        let port = &mut self.ports[index];
        if port.wake.is_none_or(|set| at < set) {
            port.wake = Some(at);
            self.events.set(at, Event::Port(index as u16));
        }
    }

    /// Takes the next packet of a queue through egress and onto the wire.
    #[inline(always)]
    fn take_turn(&mut self, index: usize, turn: Turn) {
        let now = self.now;
        let port = &mut self.ports[index];
        let queue = &mut port.queues[turn.queue];
        let taken = queue.discipline.dequeue(now, &mut self.drops);
        queue.dequeued(taken.as_ref(), &mut self.buffer, &self.drops);
        port.note_backlog(turn.queue);
        if let Some(packet) = &taken {
            port.note_drain(turn.queue, packet.length());
            if let Some(pauses) = &mut self.pauses {
                pauses.note_exit(now, packet, &self.buffer);
            }
            port.charge(now, turn, packet);
            if port.recirculation.is_some() {
                self.recirculation.dequeued.add(packet.size());
            }
        }
        self.settle_drops(index, turn.queue);
        self.report_depth(index, turn.queue);
        if let Some(mut packet) = taken {
            self.dequeued(index, turn.queue, &mut packet);
            self.places.release(packet);
        }
    }

    /// Takes a packet whose turn it is through egress and onto the wire.
    #[inline(always)]
    pub(super) fn dequeued(&mut self, index: usize, queue: usize, packet: &mut Queued) {
        if packet.tag.mirror_requested.is_copy() {
            self.note_synchronised(packet);
        }
        if self.forwards || packet.noted.bypass_egress {
            // The data plane does not look at the packet again.
            return self.depart(index, queue, packet);
        }
        self.leave_by_egress(index, queue, packet);
    }

    /// Takes a packet through the program's egress pass and carries out what that decides.
    #[inline(never)]
    fn leave_by_egress(&mut self, index: usize, queue: usize, packet: &mut Queued) {
        let (now, slot) = (self.now, packet.size());
        let marked = self.marked_in_queue(index, queue, packet);
        let EgressDecision { fate, mirror, parser_rejected, flow_control } =
            self.egress_pass(index, queue, packet);
        if let Some(request) = flow_control {
            self.request_flow_control(request, now + self.egress_latency);
        }
        if let Some(mirror) = mirror {
            self.request_mirror(*mirror, now + self.egress_latency);
        }
        self.egress_parser_rejected += u64::from(parser_rejected);
        if marked {
            ecn::mark(&mut packet.packet);
        }
        match fate {
            EgressFate::Sent => self.depart(index, queue, packet),
            EgressFate::Recirculated => self.send_back(index, packet),
            EgressFate::Dropped => {
                // The scheduler had given the slot away: it passes unused.
                hold_wire(&mut self.recirculation, now, &mut self.ports[index], slot);
                self.ports[index].queues[queue].statistics.egress_drops.add(slot);
                self.observe(index, queue, packet, Verdict::Aqm);
            }
        }
    }

    /// True if the queue's discipline has marked a packet. A program that stores headers apart from
    /// the bytes overwrites the mark, which is therefore set again afterwards.
    fn marked_in_queue(&self, index: usize, queue: usize, packet: &Queued) -> bool {
        self.observation_flags.marks
            && self.ports[index].queues[queue].managed
            && !packet.tag.arrived_marked
            && ecn::is_marked(&packet.packet)
    }

    /// Runs the program's egress pass on a packet, in place.
    #[inline(always)]
    fn egress_pass(&mut self, index: usize, number: usize, queued: &mut Queued) -> EgressDecision {
        let port = &self.ports[index];
        let queue = &port.queues[number];
        let noted = &queued.noted;
        let input = EgressInput {
            port: port.id,
            queue: number as u8,
            cos: noted.cos,
            enqueued: queued.enqueued,
            dequeued: self.now,
            now: self.now,
            enqueue_depth: noted.depth,
            dequeue_depth: queue.share.usage().cells,
            enqueue_congestion: noted.congestion,
            dequeue_congestion: queue.congestion(),
            // Pools have no colour limits here, so none is ever congested.
            pool_congestion: 0,
            enqueue_packets: noted.packets,
            dequeue_packets: queue.packets(),
            rid: noted.rid,
            rid_first: noted.rid_first,
            length: queued.length(),
            mirrored: queued.tag.mirror_requested.is_copy(),
            deflected: noted.deflected,
        };
        let Contents { packet, packet_metadata, .. } = &mut **queued;
        self.plane.egress_pass(&input, packet, packet_metadata)
    }

    /// A packet that found its port free, and for which nothing but that was chosen, goes onto the
    /// wire: what a queue, a scheduler and an egress pass would say is known.
    #[inline(always)]
    pub(super) fn send_through(&mut self, index: usize, packet: Packet) {
        let (now, size) = (self.now, packet.len());
        let start = now + self.egress_latency;
        let port = &mut self.ports[index];
        let end = port.hold_wire(now, size) + self.egress_latency;
        port.sent.add(size);
        let Port { id, observed, .. } = *port;
        if observed {
            let mut queued = self.places.enter(packet.name(), PacketMetadata::default());
            note_arrival(&mut queued.tag, &packet, true, self.observation_flags);
            queued.enqueued = now;
            self.observe(index, 0, &queued, Verdict::Sent);
            self.places.release(queued);
        }
        self.outgoing.push(id, packet, start, end);
    }

    /// A packet leaves egress as it is in `queued`: onto the wire, or back to ingress.
    #[inline(always)]
    fn depart(&mut self, index: usize, queue: usize, queued: &mut Queued) {
        let (now, size, port) = (self.now, queued.size(), &mut self.ports[index]);
        self.observations.sent(now, port, queue, queued, self.observation_flags);
        // The slot of a packet that is sent is as long as what the wire carries: a bridged header
        // that egress takes off again fits into the internal speed-up (full rate up to 28 bytes).
        let start = now + self.egress_latency;
        let end = hold_wire(&mut self.recirculation, now, port, size) + self.egress_latency;
        port.sent.add(size);
        let packet = std::mem::take(&mut queued.packet);
        match port.recirculation {
            None => self.outgoing.push(port.id, packet, start, end),
            Some(latency) => {
                port.returning.push_back(packet);
                self.events.set(end + latency, Event::Return(index as u16));
            }
        }
    }

    /// A packet leaves egress for ingress, past its port's wire.
    #[cold]
    fn send_back(&mut self, index: usize, queued: &mut Queued) {
        let port = self.ports[index].id;
        let packet = std::mem::take(&mut queued.packet);
        let packet_metadata = std::mem::take(&mut queued.packet_metadata);
        self.returned.push_back(RecirculatedPacket { packet, packet_metadata, port });
        // Never at the same instant, so that a packet that goes round for ever lets time pass.
        let latency = self.egress_latency.max(Time(1));
        self.events.set(self.now + latency, Event::Again);
    }

    /// A pass of this instant asks for a copy, which its deparser has written at `written`.
    #[cold]
    pub(super) fn request_mirror(&mut self, mirror: Mirror, written: Time) {
        if let Some(arrival) = self.mirror.request(mirror, self.now, written) {
            self.events.set(arrival, Event::MirrorCopy);
        }
    }
}

/// Holds a port's wire for a frame and the gap after it; returns when the frame is through.
#[inline(always)]
fn hold_wire(
    recirculation: &mut RecirculationStatistics,
    now: Time,
    port: &mut Port,
    frame: Bytes,
) -> Time {
    if port.recirculation.is_some() {
        recirculation.wire_bits += (wire_bytes(frame).0 + INTER_FRAME_GAP) * 8;
    }
    port.hold_wire(now, frame)
}
