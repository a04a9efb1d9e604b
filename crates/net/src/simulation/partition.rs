//! Partition: the switches, hosts and frames in flight that one core drives in virtual time.
//!
//! It must not depend on the decisions of TCP or of a queue, only on when events are due. It must
//! not depend on the consumer of its rows.

use super::closed_ends::ClosedEnds;
use super::demux::{Attachment, Demux, ELSEWHERE};
use super::events::Event;
use super::hosts::FlowHosts;
use super::in_flight::{Arriving, InFlight};
use super::inter_partition_channel::Channels;
use super::nic::{OnLink, SendPath};
use super::node::{Bottleneck, Counters, HostState, LinkEnd, Node, PortRef, Scheduled};
use super::packet_ids::PacketIds;
use super::random_links::OntoLink;
use super::records::{BATCH, Delivered, FlowSample};
use super::schedule::{Change, RefusedActions};
use super::slab::{PacketSlab, Slot};
use super::switch_timers::SwitchTimers;
use super::transfers::Planned;
use super::{FOR_CONTROLLER, SAMPLE_INTERVAL, SwitchAction};
use crate::event::EventQueue;
use crate::host::{Datagram, Exchange, Host, Received};
use crate::tcp::PredictedSegment;
use crate::wire::{FrameDetail, read_frame};
use sojourn_packet::{HeaderBytes, Packet, Time};
use sojourn_switch::PortId;

/// Index of a host in its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostPlace(pub(super) u32);

/// Names a host: twice the flow, plus one for the end that receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HostId(pub(super) u32);

impl HostId {
    pub(super) fn flow(self) -> u32 {
        self.0 / 2
    }

    /// True of the end that receives.
    pub(super) fn receives(self) -> bool {
        self.0 % 2 == 1
    }
}

/// Switches with the hosts at them, and everything that happens there.
// No cache line has something of two partitions: cores would take it from each other.
#[repr(align(128))]
pub(super) struct Partition {
    /// Its index among all partitions.
    pub(super) place: u8,
    pub(super) now: Time,
    pub(super) nodes: Vec<Node>,
    pub(super) host_states: Vec<HostState>,
    pub(super) closed_ends: ClosedEnds,
    /// Number of leading ones that are configured flows.
    pub(super) configured: usize,
    pub(super) demux: Demux,
    pub(super) channels: Channels,
    pub(super) bottlenecks: Vec<Bottleneck>,
    /// Changes during the run, the next last.
    pub(super) changes: Vec<Scheduled<Change>>,
    /// Actions on switches during the run, the next last.
    pub(super) actions: Vec<Scheduled<(u16, SwitchAction)>>,
    pub(super) refused: Option<RefusedActions>,
    /// Transfers that will begin, the next last.
    pub(super) transfers: Vec<Scheduled<Planned>>,
    /// When each switch has something to do.
    timers: SwitchTimers,
    /// The first switch that has something to do, and when.
    pub(super) soonest: (Time, u16),
    pub(super) events: EventQueue<Event>,
    /// Limit of the run: up to and including a time, or a number of pending rows.
    end: Time,
    pub(super) max_rows: usize,
    pub(super) send_path: SendPath,
    pub(super) in_flight: InFlight,
    /// Detail of the frames that hosts write.
    pub(super) written: FrameDetail,
    pub(super) counters: Counters,
    /// Packet rows that wait, at all bottlenecks.
    pub(super) rows: usize,
    pub(super) flows: Vec<FlowSample>,
    /// Of flows whose other end is in another partition: what has been delivered, at each sample.
    pub(super) delivered: Vec<Delivered>,
    /// With the flow of each.
    pub(super) exchanges: Vec<(u32, Exchange)>,
    pub(super) datagrams: Vec<(u32, Datagram)>,
}

impl Partition {
    /// A partition in which there is nothing, of so many.
    pub(super) fn new(place: u8, of: usize, written: FrameDetail) -> Partition {
        let numbers =
            if of == 1 { PacketIds::of_only_partition() } else { PacketIds::of_partition(place) };
        Partition {
            place,
            now: Time::ZERO,
            nodes: Vec::new(),
            host_states: Vec::new(),
            closed_ends: ClosedEnds::default(),
            configured: 0,
            demux: Demux::new(),
            channels: Channels::default(),
            bottlenecks: Vec::new(),
            changes: Vec::new(),
            actions: Vec::new(),
            refused: None,
            transfers: Vec::new(),
            timers: SwitchTimers::new(),
            soonest: (Time::MAX, 0),
            events: EventQueue::new(),
            end: Time::ZERO,
            max_rows: 0,
            send_path: SendPath::new(PacketSlab::new(written), numbers),
            in_flight: InFlight::new(),
            written,
            counters: Counters::default(),
            rows: 0,
            flows: Vec::new(),
            delivered: Vec::new(),
            exchanges: Vec::new(),
            datagrams: Vec::new(),
        }
    }

    /// Keeps those hosts of a flow of a source that are here; where the first is, if it is.
    pub(super) fn attach(
        &mut self,
        (flow, source): (u32, u32),
        at: &FlowHosts,
        hosts: [Host; 2],
    ) -> Option<HostPlace> {
        let mut ends = [Attachment::ELSEWHERE; 2];
        for (end, host) in hosts.into_iter().enumerate() {
            let access = at.access[end];
            if access == ELSEWHERE {
                continue;
            }
            let (id, delay) = (HostId(2 * flow + end as u32), at.send_delay[end]);
            let (listens, delay_to) = (host.listens(), at.delay[end]);
            let (timer, leaves) = (Time::MAX, Time::MAX);
            let state = HostState { host, id, source, access, delay, timer, leaves };
            let Partition { host_states, in_flight, closed_ends, .. } = self;
            let place = closed_ends.seat(state, host_states, in_flight);
            ends[end] = Attachment { access, listens, place, delay: delay_to };
        }
        self.demux.attach(flow, ends, at.dst_port);
        (ends[0].access != ELSEWHERE).then_some(ends[0].place)
    }

    /// Puts the first events into the queue.
    pub(super) fn begin(&mut self) {
        self.configured = self.host_states.len();
        for host in 0..self.host_states.len() as u32 {
            self.set_timer(HostPlace(host));
        }
        self.events.push(SAMPLE_INTERVAL, Event::Sample);
        self.schedule_change();
        self.schedule_act();
        self.schedule_arrival();
        for (node, switch) in self.nodes.iter().zip(0..) {
            self.soonest = self.timers.attach(switch, node.switch.next_timer());
        }
    }

    /// Runs up to and including `end`, until `max_rows` packet rows wait, or until a discipline ends the
    /// run, whichever comes first. True if it was the end.
    pub(super) fn run(&mut self, end: Time, max_rows: usize) -> bool {
        (self.end, self.max_rows) = (end, max_rows);
        while self.rows < self.max_rows {
            let event = self.events.next_time();
            let arrival = self.in_flight.next_time();
            let (timer, due) = self.soonest;
            if event.min(arrival).min(timer) > end {
                self.now = self.now.max(end);
                return true;
            }
            // Among equal times the switches come first.
            if timer <= event.min(arrival) {
                self.now = self.now.max(timer);
                self.serve_switch(due);
            } else if (arrival < event || (arrival == event && self.arrival_is_first()))
                && let Some((_, host)) = self.in_flight.next()
            {
                self.counters.events += 1;
                self.now = self.now.max(arrival);
                self.deliver(host);
                self.hand_in();
            } else if let Some((at, event)) = self.events.pop() {
                self.counters.events += 1;
                self.now = self.now.max(at);
                self.handle(event);
            }
        }
        false
    }

    /// Of an arrival at a host and an event at one instant: whether the place of the first was taken
    /// before.
    #[cold]
    #[inline(never)]
    fn arrival_is_first(&mut self) -> bool {
        let arrival = self.in_flight.next().map(|((_, number), _)| number);
        let event = self.events.next_number();
        arrival.zip(event).is_some_and(|(arrival, event)| arrival.is_before(event))
    }

    /// Time of the next event outside switches.
    #[inline(always)]
    fn next_outside(&self) -> Time {
        self.events.next_time().min(self.in_flight.next_time())
    }

    /// Time of the next event.
    pub(super) fn next(&self) -> Time {
        let event = self.next_outside().min(self.soonest.0);
        self.channels.next().map_or(event, |(at, _)| at.min(event))
    }

    /// Runs up to and including `end`, with the frames that arrive from other partitions until
    /// then. At equal times switches' timers come first, then these frames, in whatever order the
    /// partition received them, then everything else.
    pub(super) fn run_through(&mut self, end: Time) {
        while let Some((at, way)) = self.channels.next().filter(|(at, _)| *at <= end) {
            self.run(Time(at.0 - 1), usize::MAX);
            self.now = at;
            while self.soonest.0 <= at {
                self.serve_switch(self.soonest.1);
            }
            if let Some((port_ref, packet)) = self.channels.take(way, &mut self.send_path.slab) {
                self.counters.events += 1;
                self.receive(port_ref, packet);
            }
        }
        self.run(end, usize::MAX);
    }

    /// The reason to end the run, if a discipline has given one.
    pub(super) fn halted(&self) -> Option<&str> {
        self.nodes.iter().find_map(|node| node.switch.halted())
    }

    /// Notes that what has just happened is one event with something in another partition, unless it
    /// was the first.
    pub(super) fn count_shared(&mut self, first: bool) {
        self.counters.shared += u64::from(!first);
    }

    /// Notes when a switch has something to do next, and which switch has first.
    #[inline]
    fn look_at_timer(&mut self, switch: u16) {
        let next = self.nodes[usize::from(switch)].switch.next_timer();
        self.soonest = match self.nodes.len() {
            1 => (next.unwrap_or(Time::MAX), 0),
            _ => self.timers.set(switch, next),
        };
    }

    /// A switch does what is due.
    #[inline(always)]
    fn serve_switch(&mut self, switch: u16) {
        self.counters.events += 1;
        self.nodes[usize::from(switch)].switch.advance(self.now);
        self.drain_switch(switch);
    }

    /// Delivers queued frames of one host at their switches if no earlier event is pending; the
    /// others become events.
    #[inline(always)]
    fn hand_in(&mut self) {
        while let Some(frame) = self.send_path.on_links.pop_front() {
            let due = self.next_outside().min(self.soonest.0);
            if frame.at < due && frame.at <= self.end && self.rows < self.max_rows {
                self.counters.events += 1;
                self.now = frame.at;
                self.receive(frame.port_ref, frame.packet);
            } else {
                self.await_arrival(frame);
            }
        }
    }

    /// Makes an event of a frame's arrival at a switch.
    #[inline]
    fn await_arrival(&mut self, OnLink { at, number, port_ref, packet }: OnLink) {
        let event = Event::AtSwitch(port_ref, self.send_path.slab.put(packet));
        self.events.push_numbered(at, number, event);
    }

    /// The same of all that several hosts have sent.
    pub(super) fn await_arrivals(&mut self) {
        while let Some(frame) = self.send_path.on_links.pop_front() {
            self.await_arrival(frame);
        }
    }

    /// A frame comes to a switch.
    #[inline(always)]
    fn receive(&mut self, PortRef { switch, port }: PortRef, packet: Packet) {
        let place = usize::from(switch);
        match self.nodes[place].passage {
            Some(_) => self.nodes[place].switch.receive_passed(self.now, port, packet),
            None => {
                let frame = self.send_path.on_links.front().map_or(Time::MAX, |frame| frame.at);
                let timer = Time(self.soonest.0.0.saturating_sub(1));
                let quiet = self.end.min(self.next_outside()).min(frame).min(timer);
                let reached = self.nodes[place].switch.receive_until(self.now, port, packet, quiet);
                // Progress beyond the present is an event of its own.
                self.counters.events += u64::from(reached > self.now);
                self.now = reached;
            }
        }
        self.drain_switch(switch);
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::AtSwitch(port_ref, slot) => {
                let packet = self.send_path.slab.take(slot);
                self.receive(port_ref, packet);
            }
            Event::Departs(access, slot) => {
                let packet = self.send_path.slab.take(slot);
                let SendPath { access_links, on_links, .. } = &mut self.send_path;
                let link = &mut access_links[usize::from(access)];
                if link.random.is_some() {
                    self.send_path.carry_random(self.now, access, packet, &mut self.events);
                } else {
                    link.carry_later(self.now, packet, on_links, &mut self.events);
                }
            }
            Event::AtHosts(access, slot) => self.at_hosts(access, slot),
            Event::Timer(host) => {
                let host_state = &mut self.host_states[host.0 as usize];
                // An event that a later, earlier one has replaced finds nothing to do.
                if host_state.timer == self.now {
                    host_state.timer = Time::MAX;
                    self.serve(host);
                }
            }
            Event::Sample => {
                self.sample();
                self.count_shared(self.place == 0);
                self.events.push(self.now + SAMPLE_INTERVAL, Event::Sample);
            }
            Event::Change => self.change(),
            Event::SwitchAction => self.act(),
            Event::Arrival => self.begin_transfers(),
        }
        self.hand_in();
    }

    /// Takes the output of a switch after an operation on it.
    #[inline]
    pub(super) fn drain_switch(&mut self, switch: u16) {
        if self.nodes[usize::from(switch)].has_output() {
            self.drain(switch);
        }
        if self.nodes[usize::from(switch)].switch.halted().is_some() {
            self.max_rows = 0;
        }
        self.look_at_timer(switch);
    }

    #[inline(never)]
    fn drain(&mut self, place: u16) {
        let Partition { nodes, demux, send_path, in_flight, .. } = self;
        let Partition { events, channels, host_states, closed_ends, .. } = self;
        let SendPath { slab, numbers, .. } = send_path;
        let Node { switch, port_links, cpu, for_controller, counted, .. } =
            &mut nodes[usize::from(place)];
        for transmit in switch.transmits() {
            let Some(wire) = port_links.iter_mut().find(|wire| wire.port == transmit.port) else {
                if *cpu != Some(transmit.port) {
                    self.counters.stray += 1;
                } else if for_controller.len() < FOR_CONTROLLER {
                    for_controller.push((self.now, std::mem::take(&mut transmit.packet)));
                }
                continue;
            };
            if !wire.up {
                self.counters.into_down_links += 1;
                continue;
            }
            if wire.random.is_some() {
                let onto_link = OntoLink { now: self.now, slab, numbers, events, channels };
                onto_link.carry_random(wire, transmit);
                continue;
            }
            let at = wire.carry(transmit);
            let packet = &mut transmit.packet;
            match wire.end {
                LinkEnd::Switch(port_ref) => {
                    let event = Event::AtSwitch(port_ref, slab.put(std::mem::take(packet)));
                    events.push(at + wire.passage, event);
                }
                LinkEnd::Partition(way) => {
                    let way = &mut channels.outgoing[usize::from(way)];
                    way.put(at + wire.passage, self.now, std::mem::take(packet), slab);
                }
                LinkEnd::Hosts(access) => {
                    let found = match self.written {
                        FrameDetail::Whole => demux.find(packet, access),
                        FrameDetail::Framed => demux.find_framed(packet, access),
                        FrameDetail::Unsummed | FrameDetail::Compact => {
                            demux.end(packet.flow.0, access)
                        }
                    };
                    let Some((host, delay)) = found else {
                        self.counters.stray += u64::from(!demux.listens(packet, access));
                        continue;
                    };
                    let host = closed_ends.seated(host, host_states, in_flight, demux);
                    let at = at + delay;
                    let due = (at, events.take_number());
                    slab.write(packet, self.written, in_flight.put(host, due));
                }
            }
        }
        switch.forget_transmits();
        let rows = switch.rows().len();
        self.rows += rows - *counted;
        *counted = rows;
        if rows >= BATCH || switch.has_frames() {
            self.record(place);
        }
    }

    /// A frame reaches its host, which may answer.
    #[inline]
    fn deliver(&mut self, host: HostPlace) {
        let Partition { now, written, host_states, in_flight, send_path, events, .. } = self;
        let arriving = in_flight.take(host);
        let state = &mut host_states[host.0 as usize];
        let mut outlet = state.outlet(*now, send_path, events);
        let (heard, out) = (&mut state.host, &mut outlet);
        let (received, timer) = match *arriving {
            Arriving::Compact(ref compact) => {
                heard.receive_and_transmit(*now, (compact.ports(), compact), *written, out)
            }
            Arriving::Segment(ref predicted) => heard.receive_and_transmit(
                *now,
                (predicted.ports, PredictedSegment(predicted, None)),
                *written,
                out,
            ),
            Arriving::Frame(slot) => match out.send_path.slab.take_sacked(slot, *written) {
                Some((predicted, sack)) => {
                    let segment = (predicted.ports, PredictedSegment(&predicted, Some(&sack)));
                    heard.receive_and_transmit(*now, segment, *written, out)
                }
                None => return self.deliver_any(host, slot),
            },
        };
        self.set_timer_at(host, timer);
        self.note_received(host, received);
        self.note_heard(host, timer);
    }

    /// The same of a frame that has not the usual form.
    #[inline(never)]
    fn deliver_any(&mut self, host: HostPlace, slot: Slot) {
        let packet = self.send_path.slab.take(slot);
        match &read_frame(&packet) {
            Err(_) => self.counters.malformed += 1,
            Ok(frame) => {
                self.counters.note_telemetry(frame.telemetry.as_ref());
                let receiver = &mut self.host_states[host.0 as usize].host;
                let received = receiver.receive(self.now, frame);
                self.note_received(host, received);
                self.serve(host);
                let next = self.host_states[host.0 as usize].host.next_timer();
                self.note_heard(host, next);
            }
        }
        self.send_path.slab.recycle(packet.bytes);
    }

    /// A host has read a frame.
    #[inline(always)]
    fn note_received(&mut self, host: HostPlace, received: Received) {
        self.counters.stray += u64::from(!received.matched);
        if received.completed {
            self.record_delivery(host);
        }
    }

    /// A host has heard a frame, and this is its next timer. Configured hosts stay when they are over.
    #[inline(always)]
    fn note_heard(&mut self, host: HostPlace, timer: Option<Time>) {
        if timer.is_none() && host.0 as usize >= self.configured {
            self.note_quiet(host);
        }
    }

    /// Sends what a host has to send now and sets its timer.
    #[inline]
    pub(super) fn serve(&mut self, host: HostPlace) {
        let state = &mut self.host_states[host.0 as usize];
        let mut outlet = state.outlet(self.now, &mut self.send_path, &mut self.events);
        let next = state.host.transmit(self.now, self.written, &mut outlet);
        self.set_timer_at(host, next);
    }

    /// Puts an event at a host's next timer, unless an earlier one is there, which will look again.
    pub(super) fn set_timer(&mut self, host: HostPlace) {
        let next = self.host_states[host.0 as usize].host.next_timer();
        self.set_timer_at(host, next);
    }

    #[inline(always)]
    fn set_timer_at(&mut self, host: HostPlace, next: Option<Time>) {
        let host_state = &mut self.host_states[host.0 as usize];
        if let Some(at) = next {
            let at = at.max(self.now);
            if at < host_state.timer {
                host_state.timer = at;
                self.events.push(at, Event::Timer(host));
            }
        }
    }

    /// Has a frame of a controller's reach its port of a switch now.
    pub(super) fn packet_in(&mut self, switch: u16, port: PortId, bytes: HeaderBytes) {
        let id = self.send_path.numbers.next(self.now);
        let slot = self.send_path.slab.put(Packet { id, bytes, ..Packet::default() });
        let passage = self.nodes[usize::from(switch)].passage_or_none();
        let event = Event::AtSwitch(PortRef { switch, port }, slot);
        self.events.push(self.now + passage, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_arrival_and_an_event_at_one_instant_the_one_whose_place_was_taken_first_comes_first() {
        for arrival_first in [true, false] {
            let mut partition = Partition::new(0, 1, FrameDetail::Compact);
            partition.in_flight.attach();
            let numbers = [partition.events.take_number(), partition.events.take_number()];
            let [arrival, event] = if arrival_first { numbers } else { [numbers[1], numbers[0]] };
            partition.in_flight.put(HostPlace(0), (Time(5), arrival));
            partition.events.push_numbered(Time(5), event, Event::Sample);
            assert_eq!(partition.arrival_is_first(), arrival_first);
        }
    }
}
