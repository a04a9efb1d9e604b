//! The switch as a state machine: ingress, traffic manager, egress, and the loops between them.
//!
//! Every packet waits in a list (pipeline, mirror buffer, queue, recirculation path) and every list
//! whose head is due at a known time has an entry in the event queue, which [`Switch::advance`]
//! processes. Uses the data plane for decisions and [`tm`](crate::tm) for everything between the
//! two passes. Events of equal time are processed in the order in which they were scheduled, so a
//! run is deterministic.

mod depth_reports;
mod egress;
mod events;
mod flow_control;
mod ingress;
mod loop_guard;
mod measurement;
mod multithreaded;
mod nodes;
mod packet_generators;
mod reconfigure;
mod setup;
mod shares;
mod transmit_buffer;

pub use nodes::NodeChange;
pub use reconfigure::{Change, QueueChange, Replaced};
pub use shares::{QueueSettings, ShareChange};

use crate::config::MOST_POOLS;
use crate::discipline::{Discipline, Drops};
use crate::generator::Generators;
use crate::observation::{CapturedFrame, Observation, PacketObservation, Transmit};
use crate::statistics::{Count, IngressStatistics, RecirculationStatistics};
use crate::tm::buffer_cells::Buffer;
use crate::tm::mirror::MirrorBuffer;
use crate::tm::pause_counter::PauseCounter;
use crate::tm::port::Port;
use crate::tm::queued_packet::{Places, Queued};
use crate::tm::replication::ReplicationEngine;
use depth_reports::DepthReports;
use events::{Event, Events};
use flow_control::FlowControlRequests;
use loop_guard::LoopGuard;
use measurement::Observations;
use multithreaded::Passes;
use sojourn_packet::{
    DataPlane, PacketMetadata, PortId, Replication, ReportMode, SchedulerNodes, ShaperRegisters,
};
use sojourn_packet::{Packet, Time};
use std::collections::{BTreeMap, VecDeque};
use std::vec::Drain;
use transmit_buffer::Outgoing;

/// Native disciplines by port and queue; queues that are not named drop from the tail.
pub type Disciplines = BTreeMap<(PortId, u8), Box<dyn Discipline>>;

/// The switch.
pub struct Switch {
    now: Time,
    plane: Box<dyn DataPlane>,
    /// The data plane only chooses ports.
    forwards: bool,
    /// The passes that overlap, if they do.
    passes: Option<Passes>,
    ports: Vec<Port>,
    /// Index into `ports` by port number, plus one.
    port_index: Vec<u16>,
    buffer: Buffer,
    /// Cells of the pools as they were set.
    pools: [Option<u32>; MOST_POOLS],
    /// Registers of shapers that are set later.
    shapers: ShaperRegisters,
    /// Pipes whose queues report other changes of their depths than the configuration says.
    report_modes: BTreeMap<u16, ReportMode>,
    /// Scheduler nodes of the chip.
    node_numbers: Option<SchedulerNodes>,
    mirror: MirrorBuffer,
    replication: ReplicationEngine,
    /// At most one for a pipe.
    deflection: Vec<crate::config::DeflectionQueue>,
    ingress_latency: Time,
    egress_latency: Time,
    events: Events,
    /// Packets between ingress and the traffic manager.
    admitted: VecDeque<Admitted>,
    /// Places of packets from ingress to egress.
    places: Places,
    /// Packets on their way to a second ingress pass.
    resubmitted: VecDeque<Resubmitted>,
    /// Maximum number of resubmissions of a packet.
    resubmit_limit: u32,
    /// Packets on their way from egress to ingress, past all ports.
    returned: VecDeque<RecirculatedPacket>,
    observation_flags: ObservationFlags,
    /// Reused by every queue operation.
    drops: Drops,
    outgoing: Outgoing,
    observations: Observations,
    ingress_statistics: IngressStatistics,
    egress_parser_rejected: u64,
    recirculation: RecirculationStatistics,
    rounds: LoopGuard,
    generators: Generators,
    /// Instant of the event that stands for the generators' next.
    generation_due: Option<Time>,
    /// Packets that the generators made.
    generated: Count,
    /// Reports of queue depths, if the data plane takes them.
    reports: Option<Box<DepthReports>>,
    flow_control: FlowControlRequests,
    /// Pauses that priority flow control would make, if they are counted.
    pauses: Option<Box<PauseCounter>>,
}

/// The observations of arriving packets that a departure row needs.
#[derive(Clone, Copy, Debug)]
struct ObservationFlags {
    /// True if some port captures, so frames are stored as they arrived.
    frames: bool,
    /// Something here may mark packets, so it is noted whether they were marked before.
    marks: bool,
}

/// A packet that ingress has sent to the traffic manager.
struct Admitted {
    packet: Queued,
    unicast: Option<PortId>,
    queue: u8,
    replication: Option<Box<Replication>>,
}

impl Admitted {
    /// One of which is not known yet where it goes.
    #[inline(always)]
    fn nowhere(packet: Queued) -> Admitted {
        Admitted { packet, unicast: None, queue: 0, replication: None }
    }
}

/// A packet that ingress wants to see once more.
struct Resubmitted {
    packet: Queued,
    port: PortId,
    arrived: Time,
    /// Number of resubmissions so far.
    times: u32,
}

/// A packet that egress recirculates to ingress.
struct RecirculatedPacket {
    packet: Packet,
    packet_metadata: PacketMetadata,
    port: PortId,
}

impl Switch {
    /// A packet whose last bit has just arrived at a port. Does everything due up to `now` first.
    ///
    /// `now` must not be earlier than any instant given before; if it is, the latest one counts.
    pub fn receive(&mut self, now: Time, port: PortId, packet: Packet) {
        self.receive_until(now, port, packet, now);
    }

    /// [`Switch::receive`] for a caller that will not access the switch before `quiet` has passed:
    /// if the packet reaches the traffic manager by then, and nothing else is due before, this is
    /// processed as well. Returns the time up to which everything has happened.
    pub fn receive_until(&mut self, now: Time, port: PortId, packet: Packet, quiet: Time) -> Time {
        self.catch_up(now);
        self.arrive(port, packet, quiet);
        // Latencies of zero make consequences due at once.
        self.catch_up(now);
        self.now
    }

    /// Time of a packet from its arrival at a port to the traffic manager, if it is constant
    /// because the data plane only chooses ports. A caller that knows of an arrival in advance may
    /// then deliver the packet that much later, by [`Switch::receive_passed`], and saves an event.
    pub fn passage(&self) -> Option<Time> {
        self.forwards.then_some(self.ingress_latency)
    }

    /// Whether a component reads more of frames than their length and their ECN field: a program, a
    /// capture, routes, or a discipline that distinguishes flows.
    pub fn reads_frames(&self) -> bool {
        let is_led = |port: &Port| port.peer.is_some() || port.recirculation.is_some();
        let mut queues = self.ports.iter().flat_map(|port| &port.queues);
        !self.forwards
            || self.observation_flags.frames
            || !self.ports.iter().all(is_led)
            || queues.any(|queue| queue.discipline.reads_frames())
    }

    /// Whether nothing here looks behind frames' Ethernet headers: no program, no capture and no discipline.
    pub fn reads_ethernet_alone(&self) -> bool {
        let mut queues = self.ports.iter().flat_map(|port| &port.queues);
        self.plane.reads_ethernet_alone()
            && !self.observation_flags.frames
            && !queues.any(|queue| queue.discipline.reads_frames())
    }

    /// A packet whose last bit arrived at a port one [`Switch::passage`] before `now`. Does
    /// everything due up to `now` first.
    #[inline]
    pub fn receive_passed(&mut self, now: Time, port: PortId, packet: Packet) {
        self.catch_up(now);
        self.pass(port, packet);
    }

    /// Does everything that is due up to and including `now`, where that is seldom anything.
    #[inline(always)]
    fn catch_up(&mut self, now: Time) {
        if self.next_timer().is_some_and(|at| at <= now) {
            self.advance(now);
        }
        self.now = self.now.max(now);
    }

    /// Time of the next call of [`Switch::advance`], if anything is pending.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        self.events.next()
    }

    /// True if no packet is on its way: nothing is pending but the next instant of the packet
    /// generators.
    pub fn rests(&self) -> bool {
        self.events.all(|event| event == Event::Generate)
    }

    /// Does everything that is due up to and including `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some((at, event)) = self.events.pop_due(now) {
            self.now = self.now.max(at);
            match event {
                Event::Admit => self.admit(),
                Event::Resubmit => self.resubmit(),
                Event::MirrorCopy => self.mirror_copy(),
                Event::Port(index) => self.port_timer(usize::from(index), at),
                Event::Return(index) => self.recirculated(usize::from(index)),
                Event::Again => self.again(),
                Event::Generate => self.generate(at),
                Event::Passes => self.work_off_passes(at),
                Event::DepthReport => self.deliver_report(at),
                Event::FlowControl => self.change_flow(),
            }
        }
        self.now = self.now.max(now);
    }

    /// True if there is a packet for a wire.
    #[inline]
    pub fn has_transmits(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Takes the packets for wires, in the order of departure per port; each when it is dequeued,
    /// before its [`start`](Transmit::start).
    #[inline]
    pub fn take_transmits(&mut self) -> Drain<'_, Transmit> {
        self.outgoing.take()
    }

    /// The pending packets for wires, in the same order, to be emptied in place: the rest is
    /// [forgotten](Switch::forget_transmits).
    #[inline]
    pub fn transmits(&mut self) -> &mut [Transmit] {
        self.outgoing.waiting()
    }

    /// Forgets the packets for wires: they were looked at.
    #[inline]
    pub fn forget_transmits(&mut self) {
        self.outgoing.clear();
    }

    /// Takes the measurements: rows in the order of time, then frames in theirs.
    pub fn take_observations(&mut self) -> impl Iterator<Item = Observation> {
        let rows = self.observations.rows.drain(..).map(Observation::Packet);
        rows.chain(self.observations.frames.drain(..).map(Observation::Frame))
    }

    /// The rows that wait to be taken, in the order of time.
    #[inline]
    pub fn rows(&self) -> &[PacketObservation] {
        &self.observations.rows
    }

    /// Forgets the rows that wait: they were looked at.
    #[inline]
    pub fn forget_rows(&mut self) {
        self.observations.rows.clear();
    }

    /// True if captured frames wait to be taken.
    #[inline]
    pub fn has_frames(&self) -> bool {
        !self.observations.frames.is_empty()
    }

    /// Takes the captured frames, in the order of time.
    pub fn take_frames(&mut self) -> Drain<'_, CapturedFrame> {
        self.observations.frames.drain(..)
    }

    /// The data plane, for its control plane.
    pub fn data_plane(&mut self) -> &mut (dyn DataPlane + 'static) {
        self.plane.as_mut()
    }

    fn find_port(&self, port: PortId) -> Option<usize> {
        let index = *self.port_index.get(usize::from(port.0))?;
        Some(usize::from(index.checked_sub(1)?))
    }
}
