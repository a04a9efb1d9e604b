//! From an arrival to a queue: the ingress pass, resubmission, replication, admission.
//!
//! The pass itself is the data plane's; here its decisions are carried out. A decision takes
//! effect at the traffic manager one ingress latency after the packet's arrival.

use super::loop_guard::Loop;
use super::{Admitted, Event, ObservationFlags, RecirculatedPacket, Resubmitted, Switch};
use crate::discipline::DropKind;
use crate::ecn;
use crate::statistics::{SetBy, Unroutable};
use crate::tm::queue::QueueSpace;
use crate::tm::queued_packet::{Contents, EnqueueRecord, Queued, Tag};
use crate::tm::replication::CopyOrder;
use sojourn_packet::{
    Admission, IngressDecision, IngressInput, PacketMetadata, PortId, Replication,
};
use sojourn_packet::{Bytes, Packet, Time};

/// Colour of packets whose colour was not set.
const GREEN: u8 = 0;

impl Switch {
    /// A packet has arrived at a front-panel port, and nothing else comes to the switch before `quiet`
    /// is over.
    #[inline(always)]
    pub(super) fn arrive(&mut self, port: PortId, packet: Packet, quiet: Time) {
        let Some(index) = self.find_port(port) else {
            self.ingress_statistics.unknown_port.add(packet.len());
            return;
        };
        self.ports[index].received.add(packet.len());
        let queued = self.come_in(packet, PacketMetadata::default(), Some(index));
        let Some(admitted) = self.ingress_pass((port, self.now, 0), queued) else { return };
        let due = self.now + self.ingress_latency;
        if due <= quiet && self.events.next().is_none_or(|next| due < next) {
            // Nothing is in front of it, so it need not wait in a list.
            self.now = due;
            self.send_on(admitted);
        } else {
            self.await_admission(admitted);
        }
    }

    /// A packet that arrived at a front-panel port an ingress latency ago, and for which nothing but
    /// a port is chosen, has reached the traffic manager.
    pub(super) fn pass(&mut self, came_by: PortId, packet: Packet) {
        let Some(index) = self.find_port(came_by) else {
            self.ingress_statistics.unknown_port.add(packet.len());
            return;
        };
        let came_in = index;
        let entered = &mut self.ports[index];
        entered.received.add(packet.len());
        self.ingress_statistics.passes += 1;
        let index = match entered.peer {
            Some(index) => usize::from(index),
            None => match self.way(came_by, &packet) {
                Some(index) => index,
                None => return,
            },
        };
        let port = &mut self.ports[index];
        if port.is_free(self.now) && port.queues[0].pass_through(&packet, GREEN, &mut self.buffer) {
            return self.send_through(index, packet);
        }
        let queued = self.come_in(packet, PacketMetadata::default(), Some(came_in));
        self.enqueue_at(index, usize::from(Admission::default().queue), queued);
    }

    /// The place of the port that is chosen for a packet; if there is none, the packet is counted.
    #[inline(never)]
    fn way(&mut self, came_by: PortId, packet: &Packet) -> Option<usize> {
        let out = self.plane.forwarder().and_then(|forwarder| forwarder.port(came_by, packet));
        let Some(out) = out else {
            let mut gone = self.places.enter(packet.name(), PacketMetadata::default());
            note_arrival(&mut gone.tag, packet, true, self.observation_flags);
            self.drop_at_ingress(came_by, gone, false);
            return None;
        };
        let found = self.find_port(out);
        if found.is_none() {
            self.count_unroutable(packet.len(), (out, 0), SetBy::Ingress);
        }
        found
    }

    /// A packet has come back through a recirculation port.
    pub(super) fn recirculated(&mut self, index: usize) {
        let port = &mut self.ports[index];
        let Some(packet) = port.returning.pop_front() else { return };
        let id = port.id;
        if !self.goes_on(packet.id, packet.len(), Loop::Port(id)) {
            return;
        }
        self.ports[index].received.add(packet.len());
        self.recirculation.recirculated.add(packet.len());
        if self.generators.searches() {
            self.look_for_patterns(id, &packet);
        }
        self.enter(id, packet, PacketMetadata::default());
    }

    /// A packet that egress has sent back past the ports.
    #[cold]
    pub(super) fn again(&mut self) {
        let Some(RecirculatedPacket { packet, packet_metadata, port }) = self.returned.pop_front()
        else {
            return;
        };
        if !self.goes_on(packet.id, packet.len(), Loop::Egress(port)) {
            return;
        }
        self.recirculation.recirculated.add(packet.len());
        self.enter(port, packet, packet_metadata);
    }

    /// A resubmitted packet has come round.
    #[cold]
    pub(super) fn resubmit(&mut self) {
        let Some(r) = self.resubmitted.pop_front() else { return };
        if !self.goes_on(r.packet.packet.id, r.packet.size(), Loop::Resubmission(r.port)) {
            return;
        }
        self.enter_pass((r.port, r.arrived, r.times), r.packet);
    }

    /// A packet enters ingress as if it were a new one.
    pub(super) fn enter(&mut self, port: PortId, packet: Packet, packet_metadata: PacketMetadata) {
        let queued = self.come_in(packet, packet_metadata, None);
        self.enter_pass((port, self.now, 0), queued);
    }

    /// A packet that comes to ingress gets a place; it may come from the wire of a port.
    #[inline(always)]
    fn come_in(
        &mut self,
        packet: Packet,
        packet_metadata: PacketMetadata,
        port: Option<usize>,
    ) -> Queued {
        let mut queued = self.places.enter(packet, packet_metadata);
        let Contents { packet, tag, .. } = &mut *queued;
        note_arrival(tag, packet, port.is_some(), self.observation_flags);
        tag.came_by = port.map_or(0, |index| index as u16 + 1);
        queued
    }

    /// A packet that has arrived at a port at an instant enters ingress, resubmitted so many times, and
    /// then waits until it has reached the traffic manager.
    fn enter_pass(&mut self, arrival: (PortId, Time, u32), packet: Queued) {
        if let Some(admitted) = self.ingress_pass(arrival, packet) {
            self.await_admission(admitted);
        }
    }

    /// The ingress pass of such a packet; nothing if it does not reach the traffic manager, or not yet.
    #[inline(always)]
    fn ingress_pass(
        &mut self,
        (port, arrived, times): (PortId, Time, u32),
        packet: Queued,
    ) -> Option<Admitted> {
        self.ingress_statistics.passes += 1;
        let input = IngressInput { port, arrived, now: self.now, resubmitted: times > 0 };
        if self.passes.is_some() {
            self.submit(input, times, packet);
            return None;
        }
        let mut admitted = Admitted::nowhere(packet);
        let Contents { packet, packet_metadata, .. } = &mut *admitted.packet;
        let decision = self.plane.ingress_pass(&input, packet, packet_metadata);
        self.execute(&input, times, decision, admitted)
    }

    /// Does what the data plane has decided for a packet that had been resubmitted `times` times; here it
    /// is again if it reaches the traffic manager, one ingress latency later.
    #[inline(always)]
    pub(super) fn execute(
        &mut self,
        input: &IngressInput,
        times: u32,
        decision: IngressDecision,
        mut admitted: Admitted,
    ) -> Option<Admitted> {
        let IngressDecision { admission, resubmit, mirror, parser_rejected, flow_control } =
            decision;
        self.ingress_statistics.parser_rejected += u64::from(parser_rejected);
        if let Some(mirror) = mirror {
            self.request_mirror(*mirror, self.now + self.ingress_latency);
        }
        if let Some(request) = flow_control {
            self.request_flow_control(request, self.now + self.ingress_latency);
        }
        // A resubmission wins over whatever else was decided (TNA, ingress deparser); on Tofino a
        // second one is not possible.
        if resubmit && times < self.resubmit_limit {
            self.send_round(input, times, admitted.packet);
            return None;
        }
        self.ingress_statistics.resubmits_refused += u64::from(resubmit);
        if admission.is_nowhere() {
            self.drop_at_ingress(input.port, admitted.packet, parser_rejected);
            return None;
        }
        let noted = &mut admitted.packet.noted;
        noted.cos = admission.cos;
        noted.color = admission.color;
        noted.bypass_egress = admission.bypass_egress;
        noted.deflect_on_drop = admission.deflect_on_drop;
        (admitted.unicast, admitted.queue) = (admission.unicast, admission.queue);
        admitted.replication = admission.replication.map(Box::new);
        Some(admitted)
    }

    /// Lets a packet that has passed ingress now be on its way to the traffic manager.
    #[inline(always)]
    pub(super) fn await_admission(&mut self, admitted: Admitted) {
        self.admitted.push_back(admitted);
        self.events.set(self.now + self.ingress_latency, Event::Admit);
    }

    /// Sends a packet to ingress once more.
    #[cold]
    fn send_round(&mut self, input: &IngressInput, times: u32, packet: Queued) {
        self.ingress_statistics.resubmitted += 1;
        let IngressInput { port, arrived, .. } = *input;
        self.resubmitted.push_back(Resubmitted { packet, port, arrived, times: times + 1 });
        self.events.set(self.now + self.ingress_latency, Event::Resubmit);
    }

    /// Counts a packet that does not leave ingress.
    #[cold]
    fn drop_at_ingress(&mut self, port: PortId, packet: Queued, parser_rejected: bool) {
        self.ingress_statistics.dropped.add(Bytes(u64::from(packet.tag.arrived_length)));
        if !parser_rejected {
            self.observe_ingress_drop(port, packet);
        }
    }

    /// The oldest admitted packet has reached the traffic manager.
    #[inline(always)]
    pub(super) fn admit(&mut self) {
        if let Some(admitted) = self.admitted.pop_front() {
            self.send_on(admitted);
        }
    }

    /// The traffic manager gets a packet.
    #[inline(always)]
    fn send_on(&mut self, admitted: Admitted) {
        let Admitted { packet, unicast, queue, replication } = admitted;
        if let Some(replication) = replication {
            self.replicate(&replication, queue, &packet);
        }
        match unicast {
            Some(port) => self.enqueue((port, queue), SetBy::Ingress, packet),
            None => self.ingress_statistics.multicast_originals += 1,
        }
    }

    /// Puts a copy of a packet into a queue of each port of its groups.
    #[cold]
    fn replicate(&mut self, request: &Replication, queue: u8, original: &Queued) {
        let copies: smallvec::SmallVec<[CopyOrder; 8]> = self.replication.copies(request).collect();
        self.ingress_statistics.multicast_copies += copies.len() as u64;
        for order in copies {
            let mut copy = original.clone();
            copy.noted.rid = order.rid;
            copy.noted.rid_first = order.first;
            let by = order.group.map_or(SetBy::Ingress, SetBy::Group);
            self.enqueue((order.port, queue), by, copy);
        }
    }

    /// A mirrored copy has reached the traffic manager.
    #[cold]
    pub(super) fn mirror_copy(&mut self) {
        let Some(copy) = self.mirror.arrive() else { return };
        let session = copy.session;
        if !self.goes_on(copy.packet.id, copy.packet.len(), Loop::Copy(session.id)) {
            return;
        }
        let noted = EnqueueRecord {
            cos: session.cos,
            color: session.color,
            deflect_on_drop: copy.deflect_on_drop,
            ..EnqueueRecord::default()
        };
        let mut tag = copy.tag;
        tag.arrived = self.observation_flags.frames.then(|| Box::new(copy.packet.clone()));
        let (packet, packet_metadata) = (copy.packet, copy.packet_metadata);
        let mut queued = self.places.enter(packet, packet_metadata);
        (queued.enqueued, queued.tag, queued.noted) = (self.now, tag, noted);
        if let Some(group) = session.group {
            let request = Replication { groups: [Some(group), None], ..Replication::default() };
            self.replicate(&request, session.queue, &queued);
        }
        if let Some(port) = session.port {
            self.enqueue((port, session.queue), SetBy::Session(session.id), queued);
        }
    }

    /// Puts a packet into a queue, or counts why not, and lets the port send if it can.
    #[inline]
    fn enqueue(&mut self, (port, queue): (PortId, u8), by: SetBy, mut packet: Queued) {
        let number = usize::from(queue);
        let index = self.find_port(port).filter(|&i| number < self.ports[i].queues.len());
        let Some(index) = index else {
            return self.count_unroutable(packet.size(), (port, queue), by);
        };
        if packet.tag.mirror_requested.is_copy() {
            self.mirror.statistics.mirrored.add(packet.size());
        }
        let (now, port) = (self.now, &mut self.ports[index]);
        // If no packet waits and no decision is needed, a packet is not moved into a queue and out
        // again.
        if self.reports.is_none()
            && port.is_free(now)
            && port.queues[0].note_passage(now, &mut packet, &mut self.buffer)
        {
            self.dequeued(index, 0, &mut packet);
            return self.places.release(packet);
        }
        self.enqueue_at(index, number, packet);
    }

    /// Counts a packet for a port or queue that does not exist.
    #[cold]
    fn count_unroutable(&mut self, size: Bytes, (port, queue): (PortId, u8), by: SetBy) {
        self.ingress_statistics.unroutable.add(size);
        if self.ingress_statistics.unroutable_first.is_none() {
            let found = self.find_port(port);
            let queues = found.map(|index| self.ports[index].queues.len() as u8);
            self.ingress_statistics.unroutable_first = Some(Unroutable { port, queue, queues, by });
        }
    }

    /// The same of a queue that is there.
    #[inline(always)]
    fn enqueue_at(&mut self, index: usize, number: usize, mut packet: Queued) {
        self.capture_entry(index, &packet);
        let now = self.now;
        let port = &mut self.ports[index];
        let queue = &mut port.queues[number];
        match queue.find_room(now, &mut packet, &mut self.buffer) {
            QueueSpace::None if packet.noted.deflect_on_drop => {
                return self.deflect(index, number, packet);
            }
            QueueSpace::None => self.drops.push(packet, DropKind::Tail),
            room => {
                if let Some(pauses) = &mut self.pauses {
                    pauses.note_entry(now, &packet, &self.buffer);
                }
                queue.discipline.enqueue(now, packet, &mut self.drops);
                queue.enqueued(room, &mut self.drops);
            }
        }
        port.note_backlog(number);
        let waits = port.waits(now);
        self.settle_drops(index, number);
        self.report_depth(index, number);
        if !waits {
            self.serve(index);
        }
    }

    /// Puts a packet whose queue has no room into the deflection queue of the port's pipe, once; drops
    /// it at its own queue if the pipe has none.
    #[cold]
    fn deflect(&mut self, index: usize, number: usize, mut packet: Queued) {
        packet.noted.deflect_on_drop = false;
        let pipe = pipe_of(self.ports[index].id);
        let to = self.deflection.iter().find(|queue| pipe_of(queue.port) == pipe);
        let place = to.and_then(|queue| Some((self.find_port(queue.port)?, queue.queue)));
        let Some((to, queue)) = place else { return self.enqueue_at(index, number, packet) };
        self.ingress_statistics.deflected.add(packet.size());
        packet.noted.deflected = true;
        packet.enqueued = self.now;
        self.enqueue_at(to, usize::from(queue), packet);
    }
}

/// The pipe of a port: 128 port numbers each.
pub(super) fn pipe_of(port: PortId) -> u16 {
    port.0 >> 7
}

/// Notes what is known of a packet as it comes to ingress. A field at a time, where it stays: put together
/// elsewhere and copied, the copy would wait for the fields.
#[inline(always)]
pub(super) fn note_arrival(
    tag: &mut Tag,
    packet: &Packet,
    from_wire: bool,
    observation_flags: ObservationFlags,
) {
    tag.from_wire = from_wire;
    tag.arrived_length = packet.len().0 as u32;
    tag.arrived_marked = observation_flags.marks && ecn::is_marked(packet);
    if observation_flags.frames {
        tag.arrived = Some(Box::new(packet.clone()));
    }
}
