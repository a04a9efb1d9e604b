//! One run: hosts, links and switches, driven from event to event.
//!
//! Every host, or group of hosts, has a link to a switch, and every shaped port whose rows are wanted
//! is a bottleneck. A flow's round-trip time is spent half on the way from the last link to its
//! receiver and half on the way from the last link to its sender, so the links stay shared and in
//! order, unless the configuration has it at the hosts. Stands on everything else in this crate; must not
//! know what TCP or a queue decides, only when something is due.

mod changes;
mod departures;
mod directory;
mod hosts;
mod layout;
mod outlet;
mod records;
mod slab;
mod switches;
mod transfers;
mod workload;

use crate::config::{ConfigError, NativeAqm, RunConfig};
use crate::event::EventQueue;
use crate::host::Host;
use crate::link::Link;
use crate::records::{CapturedFrame, DatagramRows, ExchangeRows, FlowRows, PacketRows};
use crate::report::RunReport;
use crate::wire::{Checksums, read_frame, read_usual};
use changes::Change;
use departures::Departures;
use directory::Directory;
pub use hosts::start_jitter;
use layout::End;
use outlet::HostOutlet;
use slab::{PacketSlab, Slot};
use sojourn_packet::{DataPlane, ProgramLog};
use sojourn_packet::{Packet, PacketId, Time};
use sojourn_switch::{PortId, Switch, SwitchConfig, Transmit};
use transfers::Transfers;

pub use workload::{FlowWorkload, workload};

/// The port of the senders where there is one switch.
pub const SENDERS: PortId = PortId(1);
/// The recirculation port.
const RECIRCULATION: PortId = PortId(68);
/// Packets for a controller that may wait; more are lost.
const FOR_CONTROLLER: usize = 65_536;
/// How often flows are sampled.
const SAMPLE_INTERVAL: Time = Time::from_millis(10);

/// A data plane for a switch, and what it asks of the switch around it.
///
/// ```
/// use sojourn_net::{HandedOver, RunConfig, Simulation};
/// use sojourn_packet::{PortId, Time};
/// use sojourn_switch::Wire;
/// let config = RunConfig::from_json(
///     r#"{
///         "duration": 100000000,
///         "aqm": {"kind": "handedover"},
///         "flows": [{"kind": "udp", "rtt": 0, "rate": 1000000}]
///     }"#,
/// )?;
/// let wire = HandedOver::plain(Box::new(Wire::between(PortId(1), PortId(2))));
/// let mut run = Simulation::new(config, [wire])?;
/// run.advance(Time::MAX, usize::MAX);
/// assert!(!run.take_packets().is_empty());
/// # Ok::<(), sojourn_net::ConfigError>(())
/// ```
pub struct HandedOver {
    /// What decides.
    pub plane: Box<dyn DataPlane>,
    /// What its control plane and its architecture set at the switch itself, once the switch has
    /// its ports: sessions, groups, queues, limits.
    pub set_up: Box<dyn FnOnce(&mut SwitchConfig) + Send>,
    /// What manages the queues under it; tail drop if absent.
    pub discipline: Option<NativeAqm>,
    /// What is done to its switch while the run goes on.
    pub later: Vec<(Time, Act)>,
}

/// Something that is done to a switch at an instant: wholly, or it says why nothing was.
pub type Act = Box<dyn FnOnce(&mut Switch, Time) -> Result<(), String> + Send>;

impl HandedOver {
    /// A data plane that asks nothing of its switch.
    pub fn plain(plane: Box<dyn DataPlane>) -> HandedOver {
        HandedOver { plane, set_up: Box::new(|_| ()), discipline: None, later: Vec::new() }
    }
}

/// Something that will happen outside the switch.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A frame's last bit has reached a port of a switch, and what a switch without a program takes
    /// until the frame is at its queues has passed.
    AtSwitch(u16, PortId, Slot),
    /// A frame has passed its host's shaper and delay and goes onto the link.
    Departs(u16, Slot),
    /// A frame's last bit reaches a host.
    AtHost(HostId, Slot),
    /// A host may have something to do.
    Timer(HostId),
    /// Flows are sampled.
    Sample,
    /// Something changes: the next of the schedule.
    Change,
    /// Something is done to a switch: the next of what was handed over with data planes.
    Act,
    /// A transfer begins: the next of those that arrive at random.
    Arrival,
}

/// Index of a host: twice the flow, plus one for the end that receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HostId(u32);

impl HostId {
    fn flow(self) -> u32 {
        self.0 / 2
    }
}

/// A host with what the simulator keeps for it.
struct HostState {
    host: Host,
    /// Where it is attached.
    access: u16,
    /// Of what it sends, in front of its link.
    delay: Time,
    /// The earliest timer event that is in the queue for it.
    timer: Time,
}

/// The way from a host, or a group of hosts, to its switch.
struct AccessLink {
    switch: u16,
    port: PortId,
    /// The switch's [`Switch::passage`], nothing if it has none.
    passage: Time,
    departures: Departures,
    to_switch: Link,
}

/// A switch and what is behind its ports.
struct Node {
    name: String,
    switch: Switch,
    /// [`Switch::passage`], after which frames are handed in.
    passage: Option<Time>,
    /// The port of its controller, and what has left by it.
    cpu: Option<PortId>,
    for_controller: Vec<(Time, Packet)>,
    wires: Vec<Wire>,
}

/// What is behind one port.
struct Wire {
    port: PortId,
    end: End,
    /// A link that the hosts behind the port share.
    shared: Option<Link>,
    delay: Time,
    /// The [`Switch::passage`] of a switch at the other end, nothing if it has none.
    passage: Time,
    /// When the last frame arrives at the other end: none overtakes it.
    last: Time,
    /// The place of its rows, if the port is observed.
    bottleneck: Option<u16>,
    /// What is at the other end.
    towards: String,
}

/// What one observed port has yielded.
struct Bottleneck {
    switch: u16,
    port: PortId,
    rows: PacketRows,
    capture: Vec<CapturedFrame>,
}

/// What is counted outside the switch and the hosts.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    events: u64,
    malformed: u64,
    stray: u64,
    host_drops: u64,
}

/// A run that advances in virtual time as far as it is told.
pub struct Simulation {
    duration: Time,
    now: Time,
    finished: bool,
    nodes: Vec<Node>,
    access_links: Vec<AccessLink>,
    host_states: Vec<HostState>,
    directory: Directory,
    /// At least one; the first is the one that a run with one switch has.
    bottlenecks: Vec<Bottleneck>,
    /// What changes while the run goes on, the next last.
    changes: Vec<(Time, Change)>,
    /// What is done to which switch while the run goes on, the next last.
    acts: Vec<(Time, u16, Act)>,
    /// How many of these were refused, and what was said at the first.
    refused: Option<(u64, String)>,
    /// The first switch that has something to do, and when.
    soonest: (Time, u16),
    events: EventQueue<Event>,
    slab: PacketSlab,
    /// What hosts do with them.
    checksums: Checksums,
    next_packet: u64,
    counters: Counters,
    /// Packet rows that wait, at all bottlenecks.
    rows: usize,
    flows: FlowRows,
    exchanges: ExchangeRows,
    datagrams: DatagramRows,
    transfers: Transfers,
}

impl Simulation {
    /// Builds the run; `planes` are the data planes, ready to run, one for each switch that waits
    /// for one, in the order of [`RunConfig::aqms`].
    ///
    /// ```
    /// use sojourn_net::{RunConfig, Simulation, Verdict};
    /// use sojourn_packet::Time;
    /// let config = RunConfig::from_json(
    ///     r#"{
    ///         "duration": 1000000000,
    ///         "aqm": {"kind": "native", "name": "codel"},
    ///         "flows": [{"kind": "tcp", "rtt": 20000000}]
    ///     }"#,
    /// )?;
    /// let mut run = Simulation::new(config, None)?;
    /// run.advance(Time::MAX, usize::MAX);
    /// let rows = run.take_packets();
    /// assert!(rows.verdict.contains(&(Verdict::Sent as u8)));
    /// assert!(run.report().flows[0].delivered > 0);
    /// # Ok::<(), sojourn_net::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// [`ConfigError`] if a value is not allowed, or if there are more or fewer data planes than
    /// switches that wait for one.
    pub fn new(
        config: RunConfig,
        planes: impl IntoIterator<Item = HandedOver>,
    ) -> Result<Simulation, ConfigError> {
        config.check()?;
        let layout = layout::layout(&config);
        let mut planes = planes.into_iter();
        let (nodes, acts) = switches::nodes(&config, &layout, &mut planes)?;
        if planes.next().is_some() {
            return Err(ConfigError::PlaneUnexpected);
        }
        let checksums = switches::checksums(&config, &layout);
        let (host_states, attached) = hosts::host_states(&config, &layout).into_iter().unzip();
        let mut run = Simulation {
            duration: Time(config.duration),
            now: Time::ZERO,
            finished: false,
            access_links: switches::access_links(&layout, &config.netem, &nodes),
            nodes,
            host_states,
            directory: Directory::new(&layout, attached),
            bottlenecks: switches::bottlenecks(&layout),
            changes: layout.changes.iter().rev().copied().collect(),
            acts,
            refused: None,
            soonest: (Time::MAX, 0),
            events: EventQueue::new(),
            slab: PacketSlab::new(checksums),
            checksums,
            next_packet: 0,
            counters: Counters::default(),
            rows: 0,
            flows: FlowRows::default(),
            exchanges: ExchangeRows::default(),
            datagrams: DatagramRows::default(),
            transfers: Transfers::new(&config, &layout),
        };
        for host in 0..run.host_states.len() as u32 {
            run.set_timer(HostId(host));
        }
        run.events.push(SAMPLE_INTERVAL, Event::Sample);
        run.schedule_change();
        run.schedule_act();
        run.schedule_arrival();
        run.look_at_timers();
        Ok(run)
    }

    /// Runs until `until`, the end of the run, or until `max_rows` packet rows wait (at least one),
    /// whichever comes first; after the last, take the rows and call it again.
    pub fn advance(&mut self, until: Time, max_rows: usize) {
        let end = until.min(self.duration);
        while self.rows < max_rows.max(1) {
            let event = self.events.next_time().unwrap_or(Time::MAX);
            let (timer, due) = self.soonest;
            if event.min(timer) > end {
                self.now = self.now.max(end);
                if self.now >= self.duration && !self.finished {
                    self.finished = true;
                    self.record_unfinished();
                }
                return;
            }
            self.counters.events += 1;
            // Among equal instants the switches come first.
            if timer <= event {
                self.now = self.now.max(timer);
                self.nodes[usize::from(due)].switch.advance(self.now);
                self.drain_switch(due);
            } else if let Some((at, event)) = self.events.pop() {
                self.now = self.now.max(at);
                self.handle(event);
            }
        }
    }

    /// Notes which switch has something to do first, and when.
    #[inline]
    fn look_at_timers(&mut self) {
        if let [node] = &self.nodes[..] {
            self.soonest = (node.switch.next_timer().unwrap_or(Time::MAX), 0);
            return;
        }
        let mut soonest = (Time::MAX, 0);
        for (node, place) in self.nodes.iter().zip(0..) {
            if let Some(at) = node.switch.next_timer().filter(|at| *at < soonest.0) {
                soonest = (at, place);
            }
        }
        self.soonest = soonest;
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::AtSwitch(switch, port, slot) => {
                let packet = self.slab.take(slot);
                let node = &mut self.nodes[usize::from(switch)];
                match node.passage {
                    Some(_) => node.switch.receive_passed(self.now, port, packet),
                    None => node.switch.receive(self.now, port, packet),
                }
                self.drain_switch(switch);
            }
            Event::Departs(access, slot) => {
                let packet = self.slab.take(slot);
                let link = &mut self.access_links[usize::from(access)];
                link.carry_later(self.now, packet, &mut self.slab, &mut self.events);
            }
            Event::AtHost(host, slot) => self.deliver(host, slot),
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
                self.events.push(self.now + SAMPLE_INTERVAL, Event::Sample);
            }
            Event::Change => self.change(),
            Event::Act => self.act(),
            Event::Arrival => self.begin_transfers(),
        }
    }

    /// Takes what a switch has to hand out, after something was done to it.
    #[inline]
    fn drain_switch(&mut self, switch: u16) {
        if self.nodes[usize::from(switch)].switch.has_output() {
            self.drain(switch);
        }
        self.look_at_timers();
    }

    #[inline(never)]
    fn drain(&mut self, place: u16) {
        let Simulation { nodes, directory, slab, events, .. } = self;
        let Node { switch, wires, cpu, for_controller, .. } = &mut nodes[usize::from(place)];
        while let Some(transmit) = switch.poll_transmit() {
            let Some(wire) = wires.iter_mut().find(|wire| wire.port == transmit.port) else {
                if *cpu != Some(transmit.port) {
                    self.counters.stray += 1;
                } else if for_controller.len() < FOR_CONTROLLER {
                    for_controller.push((self.now, transmit.packet));
                }
                continue;
            };
            let at = wire.carry(&transmit);
            match wire.end {
                End::Switch(next, port) => {
                    let event = Event::AtSwitch(next, port, slab.put(transmit.packet));
                    events.push(at + wire.passage, event);
                }
                End::Hosts(access) => {
                    let found = match self.checksums {
                        Checksums::Made => directory.find(&transmit.packet, access),
                        Checksums::Left => directory.end(transmit.packet.flow.0, access),
                    };
                    let Some((host, delay)) = found else {
                        self.counters.stray += 1;
                        continue;
                    };
                    events.push(at + delay, Event::AtHost(host, slab.put(transmit.packet)));
                }
            }
        }
        while let Some(observation) = switch.poll_observation() {
            let wire = wires.iter().find(|wire| wire.port == observation.port());
            let Some(bottleneck) = wire.and_then(|wire| wire.bottleneck) else { continue };
            self.rows += self.bottlenecks[usize::from(bottleneck)].record(observation);
        }
    }

    /// A frame reaches its host, which may answer.
    #[inline]
    fn deliver(&mut self, host: HostId, slot: Slot) {
        let packet = self.slab.take(slot);
        if let Some((ports, segment)) = &read_usual(&packet, self.checksums) {
            let receiver = &mut self.host_states[host.0 as usize].host;
            let known = receiver.receive_tcp(self.now, *ports, segment);
            self.answer(host, known);
        } else {
            self.deliver_any(host, &packet);
        }
        self.slab.recycle(packet.bytes);
    }

    /// The same of a frame that has not the usual form.
    #[inline(never)]
    fn deliver_any(&mut self, host: HostId, packet: &Packet) {
        match &read_frame(packet) {
            Err(_) => self.counters.malformed += 1,
            Ok(frame) => {
                let receiver = &mut self.host_states[host.0 as usize].host;
                let known = receiver.receive(self.now, frame);
                self.answer(host, known);
            }
        }
    }

    /// A host has read a frame, which it had a socket for if it is `known`.
    #[inline]
    fn answer(&mut self, host: HostId, known: bool) {
        self.counters.stray += u64::from(!known);
        if self.host_states[host.0 as usize].host.has_news() {
            self.record_delivery(host);
        }
        self.serve(host);
    }

    /// Sends what a host has to send now and sets its timer.
    #[inline]
    fn serve(&mut self, host: HostId) {
        let state = &mut self.host_states[host.0 as usize];
        let mut outlet = HostOutlet {
            now: self.now,
            flow: host.flow(),
            delay: state.delay,
            access: state.access,
            access_link: &mut self.access_links[usize::from(state.access)],
            slab: &mut self.slab,
            events: &mut self.events,
            next_packet: &mut self.next_packet,
            host_drops: &mut self.counters.host_drops,
        };
        state.host.transmit(self.now, self.checksums, &mut outlet);
        self.set_timer(host);
    }

    /// Puts an event at a host's next timer, unless an earlier one is there, which will look again.
    #[inline]
    fn set_timer(&mut self, host: HostId) {
        let host_state = &mut self.host_states[host.0 as usize];
        if let Some(at) = host_state.host.next_timer() {
            let at = at.max(self.now);
            if at < host_state.timer {
                host_state.timer = at;
                self.events.push(at, Event::Timer(host));
            }
        }
    }

    /// What a switch has sent to its controller since the last call, and when.
    pub fn take_controllers_packets(&mut self, switch: u16) -> Vec<(Time, Packet)> {
        let node = self.nodes.get_mut(usize::from(switch));
        node.map(|node| std::mem::take(&mut node.for_controller)).unwrap_or_default()
    }

    /// Has a frame of the controller's reach its port of a switch now. False if there is no such port.
    pub fn packet_out(&mut self, switch: u16, bytes: Vec<u8>) -> bool {
        let port = self.nodes.get(usize::from(switch)).and_then(|node| node.cpu);
        let Some(port) = port else { return false };
        let id = PacketId(self.next_packet);
        self.next_packet += 1;
        let slot = self.slab.put(Packet { id, bytes, ..Packet::default() });
        let passage = self.nodes[usize::from(switch)].passage.unwrap_or(Time::ZERO);
        self.events.push(self.now + passage, Event::AtSwitch(switch, port, slot));
        true
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// True once the configured duration has passed.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// How many observed ports there are.
    pub fn bottlenecks(&self) -> usize {
        self.bottlenecks.len()
    }

    /// Rows of all kinds and captured frames that wait to be taken.
    pub fn waiting(&self) -> usize {
        let others = self.flows.len() + self.exchanges.len() + self.datagrams.len();
        let frames: usize = self.bottlenecks.iter().map(|place| place.capture.len()).sum();
        self.rows + others + frames
    }

    /// Hands over the packet rows that wait at the first bottleneck, which in a run with one switch
    /// is all that there is.
    pub fn take_packets(&mut self) -> PacketRows {
        self.take_packets_of(0)
    }

    /// Hands over the packet rows that wait at a bottleneck, counted from 0; none if there is no
    /// such bottleneck.
    pub fn take_packets_of(&mut self, bottleneck: usize) -> PacketRows {
        let Some(bottleneck) = self.bottlenecks.get_mut(bottleneck) else {
            return PacketRows::default();
        };
        let rows = std::mem::take(&mut bottleneck.rows);
        self.rows -= rows.len();
        rows
    }

    /// Hands over the flow samples that wait.
    pub fn take_flows(&mut self) -> FlowRows {
        std::mem::take(&mut self.flows)
    }

    /// Hands over the transfers and requests that wait.
    pub fn take_exchanges(&mut self) -> ExchangeRows {
        std::mem::take(&mut self.exchanges)
    }

    /// Hands over the datagrams of voices that wait.
    pub fn take_datagrams(&mut self) -> DatagramRows {
        std::mem::take(&mut self.datagrams)
    }

    /// Hands over the captured frames that wait at a bottleneck, counted from 0; none unless
    /// `capture` is set, or if there is no such bottleneck.
    pub fn take_capture_of(&mut self, bottleneck: usize) -> Vec<CapturedFrame> {
        let found = self.bottlenecks.get_mut(bottleneck);
        found.map(|bottleneck| std::mem::take(&mut bottleneck.capture)).unwrap_or_default()
    }

    /// Hands over what programs have written into their logs since the last call, in order of time.
    pub fn take_log(&mut self) -> ProgramLog {
        let mut all = ProgramLog::default();
        for node in &mut self.nodes {
            let mut log = node.switch.data_plane().take_log();
            all.lost += log.lost;
            all.lines.append(&mut log.lines);
        }
        all.lines.sort_by_key(|line| line.at);
        all
    }

    /// The counters so far.
    pub fn report(&self) -> RunReport {
        self.make_report()
    }
}

impl Wire {
    /// When a frame that leaves the port is at the other end.
    #[inline]
    fn carry(&mut self, transmit: &Transmit) -> Time {
        let through = match &mut self.shared {
            Some(link) => link.send(transmit.end, transmit.packet.len()),
            None => transmit.end,
        };
        self.last = self.last.max(through + self.delay);
        self.last
    }
}

#[cfg(test)]
mod network_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod traffic_tests;
