//! One run: hosts, links and the switch, driven from event to event.
//!
//! Senders share one link into switch port 1, receivers one behind port 2; the bottleneck is port 2
//! towards the receivers. A flow's round-trip time is spent half on the way from the receivers'
//! link to its receiver and half on the way from the senders' link to its sender, so the links stay
//! shared and in order. Stands on everything else in this crate; must not know what TCP or a queue
//! decides, only when something is due.

mod records;
mod slab;
mod topology;

use crate::config::{Aqm, ConfigError, RunConfig};
use crate::event::EventQueue;
use crate::host::Host;
use crate::link::Link;
use crate::records::{CapturedFrame, FlowRows, PacketRows};
use crate::report::RunReport;
use crate::wire::{Role, destination, flow_of, read_frame};
use slab::{PacketSlab, Slot};
use sojourn_packet::{FlowId, Packet, PacketId, Time};
use sojourn_switch::{PortId, Switch, Transmit};
use sojourn_targets::DataPlane;

/// The port of the senders.
pub(crate) const SENDERS: PortId = PortId(1);
/// The port of the receivers: the bottleneck.
const RECEIVERS: PortId = PortId(2);
/// The recirculation port.
const RECIRCULATION: PortId = PortId(68);
/// How often flows are sampled.
const SAMPLE_INTERVAL: Time = Time::from_millis(10);

/// Something that will happen outside the switch.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A frame's last bit reaches a port of the switch.
    AtSwitch(PortId, Slot),
    /// A frame's last bit reaches a host.
    AtHost(HostId, Slot),
    /// A host may have something to do.
    Timer(HostId),
    /// Flows are sampled.
    Sample,
}

/// Index of a host: twice the flow, plus one for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HostId(u32);

impl HostId {
    fn new(flow: u32, role: Role) -> HostId {
        HostId(2 * flow + u32::from(role == Role::Server))
    }

    fn flow(self) -> u32 {
        self.0 / 2
    }

    fn is_client(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// A host with what the simulator keeps for it.
struct Station {
    host: Host,
    /// From its side's shared link to the host.
    delay: Time,
    /// The earliest timer event that is in the queue for it.
    timer: Time,
}

/// The links that the hosts of one side share.
struct Side {
    port: PortId,
    to_switch: Link,
    from_switch: Link,
}

/// What is counted outside the switch and the hosts.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    events: u64,
    malformed: u64,
    stray: u64,
}

/// A run that advances in virtual time as far as it is told.
pub struct Simulation {
    duration: Time,
    now: Time,
    finished: bool,
    switch: Switch,
    stations: Vec<Station>,
    senders: Side,
    receivers: Side,
    events: EventQueue<Event>,
    slab: PacketSlab,
    next_packet: u64,
    counters: Counters,
    packets: PacketRows,
    flows: FlowRows,
    capture: Vec<CapturedFrame>,
}

impl Simulation {
    /// Builds the run; `plane` is the loaded and configured program of a P4 run.
    ///
    /// # Errors
    /// [`ConfigError`] if a value is not allowed, or if `plane` is there without `aqm.kind` being
    /// `p4` or the other way round.
    pub fn new(
        config: RunConfig,
        plane: Option<Box<dyn DataPlane>>,
    ) -> Result<Simulation, ConfigError> {
        config.check()?;
        match (&config.aqm, &plane) {
            (Aqm::P4(_), None) => return Err(ConfigError::PlaneMissing),
            (Aqm::Native(_), Some(_)) => return Err(ConfigError::PlaneUnexpected),
            _ => {}
        }
        let mut run = Simulation {
            duration: Time(config.duration),
            now: Time::ZERO,
            finished: false,
            switch: topology::switch(&config, plane)?,
            stations: topology::stations(&config),
            senders: topology::side(&config, SENDERS),
            receivers: topology::side(&config, RECEIVERS),
            events: EventQueue::new(),
            slab: PacketSlab::default(),
            next_packet: 0,
            counters: Counters::default(),
            packets: PacketRows::default(),
            flows: FlowRows::default(),
            capture: Vec::new(),
        };
        for host in 0..run.stations.len() as u32 {
            run.set_timer(HostId(host));
        }
        run.events.push(SAMPLE_INTERVAL, Event::Sample);
        Ok(run)
    }

    /// Runs until `until`, the end of the run, or until `max_rows` packet rows wait (at least one),
    /// whichever comes first; after the last, take the rows and call it again.
    pub fn advance(&mut self, until: Time, max_rows: usize) {
        let end = until.min(self.duration);
        while self.packets.len() < max_rows.max(1) {
            let event = self.events.next_time().unwrap_or(Time::MAX);
            let timer = self.switch.next_timer().unwrap_or(Time::MAX);
            if event.min(timer) > end {
                self.now = self.now.max(end);
                self.finished = self.now >= self.duration;
                return;
            }
            self.counters.events += 1;
            // Among equal instants the switch comes first.
            if timer <= event {
                self.now = self.now.max(timer);
                self.switch.advance(self.now);
                self.drain_switch();
            } else if let Some((at, event)) = self.events.pop() {
                self.now = self.now.max(at);
                self.handle(event);
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::AtSwitch(port, slot) => {
                let packet = self.slab.take(slot);
                self.switch.receive(self.now, port, packet);
                self.drain_switch();
            }
            Event::AtHost(host, slot) => self.deliver(host, slot),
            Event::Timer(host) => {
                let station = &mut self.stations[host.0 as usize];
                // An event that a later, earlier one has replaced finds nothing to do.
                if station.timer == self.now {
                    station.timer = Time::MAX;
                    self.serve(host);
                }
            }
            Event::Sample => {
                self.sample();
                self.events.push(self.now + SAMPLE_INTERVAL, Event::Sample);
            }
        }
    }

    /// Takes what the switch has to hand out.
    fn drain_switch(&mut self) {
        while let Some(transmit) = self.switch.poll_transmit() {
            self.leave_switch(transmit);
        }
        while let Some(observation) = self.switch.poll_observation() {
            self.record(observation);
        }
    }

    /// A frame leaves the switch towards the hosts of one side.
    fn leave_switch(&mut self, transmit: Transmit) {
        let side = match transmit.port {
            SENDERS => &mut self.senders,
            _ => &mut self.receivers,
        };
        let at = side.from_switch.send(transmit.end, transmit.packet.len());
        let is_for_senders = transmit.port == SENDERS;
        let host = destination(&transmit.packet)
            .and_then(flow_of)
            .map(|(flow, role)| HostId::new(flow, role))
            .filter(|host| (host.0 as usize) < self.stations.len())
            .filter(|host| host.is_client() == is_for_senders);
        let Some(host) = host else {
            self.counters.stray += 1;
            return;
        };
        let at = at + self.stations[host.0 as usize].delay;
        let slot = self.slab.put(transmit.packet);
        self.events.push(at, Event::AtHost(host, slot));
    }

    /// A frame reaches its host, which may answer.
    fn deliver(&mut self, host: HostId, slot: Slot) {
        let packet = self.slab.take(slot);
        match read_frame(&packet) {
            Err(_) => self.counters.malformed += 1,
            Ok(frame) => {
                let station = &mut self.stations[host.0 as usize];
                if !station.host.receive(self.now, &frame) {
                    self.counters.stray += 1;
                }
                self.serve(host);
            }
        }
    }

    /// Sends what a host has to send now and sets its timer.
    fn serve(&mut self, host: HostId) {
        let side = if host.is_client() { &mut self.senders } else { &mut self.receivers };
        let station = &mut self.stations[host.0 as usize];
        loop {
            let mut packet = Packet {
                id: PacketId(self.next_packet),
                flow: FlowId(host.flow()),
                ..Packet::default()
            };
            let Some(zeros) = station.host.poll_transmit(self.now, &mut packet.bytes) else {
                break;
            };
            packet.zeros = zeros;
            self.next_packet += 1;
            let at = side.to_switch.send(self.now, packet.len());
            let slot = self.slab.put(packet);
            self.events.push(at, Event::AtSwitch(side.port, slot));
        }
        self.set_timer(host);
    }

    /// Puts an event at a host's next timer, unless an earlier one is there, which will look again.
    fn set_timer(&mut self, host: HostId) {
        let station = &mut self.stations[host.0 as usize];
        if let Some(at) = station.host.next_timer() {
            let at = at.max(self.now);
            if at < station.timer {
                station.timer = at;
                self.events.push(at, Event::Timer(host));
            }
        }
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// True once the configured duration has passed.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Hands over the packet rows that wait.
    pub fn take_packets(&mut self) -> PacketRows {
        std::mem::take(&mut self.packets)
    }

    /// Hands over the flow samples that wait.
    pub fn take_flows(&mut self) -> FlowRows {
        std::mem::take(&mut self.flows)
    }

    /// Hands over the captured frames that wait; none unless `capture` is set.
    pub fn take_capture(&mut self) -> Vec<CapturedFrame> {
        std::mem::take(&mut self.capture)
    }

    /// The counters so far.
    pub fn report(&self) -> RunReport {
        self.make_report()
    }
}

#[cfg(test)]
mod tests;
