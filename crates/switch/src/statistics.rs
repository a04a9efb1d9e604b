//! Counters of a switch.
//!
//! Every packet that arrives at the switch or originates in it is accounted for. It is sent,
//! dropped under one of the names here, or still held. Shares are computed here from integers, and
//! the engine does not read them.

use crate::tm::pause_counter::PauseStatistics;
use crate::tm::shaper::EffectiveShaper;
use serde::{Serialize, Serializer};
use sojourn_packet::{Bytes, Time};
use sojourn_packet::{FaultReport, PortId, ReportMode, WordOrder};
use std::fmt;

/// Packets and their bytes (frames without FCS).
///
/// ```
/// use sojourn_packet::Bytes;
/// use sojourn_switch::Count;
/// let mut sent = Count::default();
/// sent.add(Bytes(1514));
/// assert_eq!(sent.plus(sent), Count { packets: 2, bytes: 3028 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Count {
    /// Counts one packet.
    pub fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size.0;
    }

    /// The sum of two counts.
    pub fn plus(self, other: Count) -> Count {
        Count { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// Everything counted since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// The instant these figures are of.
    pub now: Time,
    /// Arrived at front-panel ports.
    pub received: Count,
    /// Made by the packet generators, with their headers.
    pub generated: Count,
    /// Transmitted on front-panel ports.
    pub sent: Count,
    /// Counters before the traffic manager.
    pub ingress: IngressStatistics,
    /// Packets that the egress parser refused (also counted as egress drops of their queue).
    pub egress_parser_rejected: u64,
    /// Ports in the order of the configuration.
    pub ports: Vec<PortStatistics>,
    /// Mirroring.
    pub mirror: MirrorStatistics,
    /// Recirculation.
    pub recirculation: RecirculationStatistics,
    /// Dropped because more came round than may ([`RoundLimit`](crate::RoundLimit)).
    pub rounds_dropped: Count,
    /// The packet buffer.
    pub buffer: BufferStatistics,
    /// Reports of queue depths, if the program takes them.
    pub depth_reports: Option<DepthReportStatistics>,
    /// Requests to pause or resume queues.
    pub flow_control: FlowControlStatistics,
    /// Faults of the program, by kind; empty for a native discipline.
    pub faults: Vec<FaultReport>,
    /// Packets and copies inside the switch now: in a pipeline, a buffer, a queue or a loop.
    pub held: u64,
}

/// Counters before the traffic manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IngressStatistics {
    /// Ingress passes run.
    pub passes: u64,
    /// Dropped by the program, or left without a destination.
    pub dropped: Count,
    /// Passes in which the parser refused the packet.
    pub parser_rejected: u64,
    /// Packets sent through ingress a second time.
    pub resubmitted: u64,
    /// Requests for a third ingress pass, which the hardware ignores.
    pub resubmits_refused: u64,
    /// Sent by the program to a port or queue that does not exist.
    pub unroutable: Count,
    /// The first of them.
    pub unroutable_first: Option<Unroutable>,
    /// Arrived at a port that does not exist; not counted as received.
    pub unknown_port: Count,
    /// Copies made by the replication engine.
    pub multicast_copies: u64,
    /// Multicast packets used up: replaced by their copies, however many.
    pub multicast_originals: u64,
    /// Packets without room in their queue that went to a deflection queue.
    pub deflected: Count,
}

/// A packet for a port or queue that does not exist.
///
/// ```
/// use sojourn_packet::PortId;
/// use sojourn_switch::{SetBy, Unroutable};
/// let lost = Unroutable { port: PortId(1), queue: 2, queues: Some(1), by: SetBy::Group(7) };
/// assert_eq!(
///     lost.to_string(),
///     "port 1 has no queue 2, only queue 0; set by the nodes of multicast group 7"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unroutable {
    /// Requested port.
    pub port: PortId,
    /// Requested queue.
    pub queue: u8,
    /// Number of queues of the port; `None` if there is no such port.
    pub queues: Option<u8>,
    /// Source of the choice of port and queue.
    pub by: SetBy,
}

/// Source of a packet's port: ingress, a multicast group or a mirror session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetBy {
    /// The ingress pass.
    Ingress,
    /// A multicast group.
    Group(u16),
    /// A mirror session.
    Session(u16),
}

impl Serialize for Unroutable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Unroutable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (port, queue) = (self.port.0, self.queue);
        match self.queues {
            None => write!(f, "there is no port {port} (queue {queue})")?,
            Some(1) => write!(f, "port {port} has no queue {queue}, only queue 0")?,
            Some(queues) => {
                let last = queues.saturating_sub(1);
                write!(f, "port {port} has no queue {queue}, only queues 0 to {last}")?;
            }
        }
        match self.by {
            SetBy::Ingress => write!(f, "; set by the program's ingress"),
            SetBy::Group(id) => write!(f, "; set by the nodes of multicast group {id}"),
            SetBy::Session(id) => write!(f, "; set by mirror session {id}"),
        }
    }
}

/// One port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortStatistics {
    /// The port.
    pub port: PortId,
    /// Arrived at it; for a recirculation port, come back through it.
    pub received: Count,
    /// Left by it.
    pub sent: Count,
    /// Port shaper as the hardware implements it.
    pub shaper: Option<EffectiveShaper>,
    /// Pauses of its sender that priority flow control would have made.
    #[serde(skip)]
    pub pauses: PauseStatistics,
    /// Whether its packets come back to ingress.
    #[serde(skip)]
    pub recirculates: bool,
    /// Its queues.
    pub queues: Vec<QueueStatistics>,
    /// The counters of queue 0's discipline, by name.
    pub discipline: Vec<(&'static str, u64)>,
}

/// One queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueStatistics {
    /// Taken in.
    pub enqueued: Count,
    /// Given to the egress pass or the wire.
    pub dequeued: Count,
    /// Refused: no room in the queue, in the buffer, or by the discipline at enqueue.
    pub tail_drops: Count,
    /// Dropped by a native discipline after it had been enqueued.
    pub discipline_drops: Count,
    /// Dropped by the program's egress pass; each has used its tokens and its slot on the wire.
    pub egress_drops: Count,
    /// Sent with a mark that it did not have on arrival at the switch.
    pub marked: Count,
    /// Packets in the queue now.
    pub packets: u64,
    /// Cells in use now.
    pub cells: u32,
    /// Most cells in use at any time.
    pub peak_cells: u32,
    /// Guaranteed rate as the hardware implements it.
    pub min_shaper: Option<EffectiveShaper>,
    /// Maximum rate as the hardware implements it.
    pub max_shaper: Option<EffectiveShaper>,
    /// The control plane or a request of advanced flow control has paused it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
}

/// Mirroring.
///
/// ```
/// use sojourn_switch::MirrorStatistics;
/// let seen = MirrorStatistics { no_session: 2, tail_drops: 1, ..MirrorStatistics::default() };
/// assert_eq!(seen.drops(), 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MirrorStatistics {
    /// Copies requested by deparsers.
    pub requested: u64,
    /// Copies enqueued at their session's queue, after truncation.
    pub mirrored: Count,
    /// Copies discarded because the session does not exist or does not serve the direction.
    pub no_session: u64,
    /// Copies lost because the mirror buffer or the session's part of it was full.
    pub buffer_drops: u64,
    /// Copies lost at the tail of their session's queue (also counted there).
    pub tail_drops: u64,
    /// Copies in the mirror buffer now.
    pub held: u64,
    /// Time for which state waited for its copy.
    pub unsynchronised: UnsynchronisedTime,
}

impl MirrorStatistics {
    /// Copies that were requested and did not reach a queue.
    pub fn drops(&self) -> u64 {
        self.no_session + self.buffer_drops + self.tail_drops
    }
}

/// Time from a pass that requested a copy to the egress pass of that copy, during which the
/// registers that the copy updates are outdated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnsynchronisedTime {
    /// Sum over all copies.
    pub total: Time,
    /// Longest.
    pub max: Time,
    /// Copies that have had their egress pass.
    pub count: u64,
}

/// Recirculation.
///
/// ```
/// use sojourn_packet::Time;
/// use sojourn_switch::RecirculationStatistics;
/// let (capacity, elapsed) = (100_000_000_000, Time::from_secs(1));
/// let seen = RecirculationStatistics { wire_bits: 1_000_000_000, capacity, elapsed, ..Default::default() };
/// assert_eq!(seen.share_of_capacity(), 0.01);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecirculationStatistics {
    /// Packets that came back to ingress.
    pub recirculated: Count,
    /// Packets sent by the recirculation ports' queues, dropped in egress or not.
    pub dequeued: Count,
    /// Bits that these occupied on the recirculation paths, gaps included.
    pub wire_bits: u64,
    /// Sum of the recirculation ports' rates in bit/s.
    pub capacity: u64,
    /// Elapsed time that the shares refer to.
    pub elapsed: Time,
    /// Bytes received at front-panel ports.
    pub received_bytes: u64,
}

impl RecirculationStatistics {
    /// Share of the recirculation ports' bandwidth in use, 0 to 1.
    pub fn share_of_capacity(&self) -> f64 {
        let possible = self.capacity as f64 * self.elapsed.0 as f64 / 1e9;
        if possible == 0.0 { 0.0 } else { self.wire_bits as f64 / possible }
    }

    /// Bytes through the recirculation ports' queues as a share of the bytes received from outside.
    pub fn share_of_traffic(&self) -> f64 {
        if self.received_bytes == 0 {
            return 0.0;
        }
        self.dequeued.bytes as f64 / self.received_bytes as f64
    }
}

/// The packet buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BufferStatistics {
    /// Cells in all.
    pub total_cells: u32,
    /// Cells in use now.
    pub cells: u32,
    /// Most cells in use at any time.
    pub peak_cells: u32,
}

/// Reports of queue depths to a ghost thread, and the settings that they are subject to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DepthReportStatistics {
    /// Reports that reached the ghost thread.
    pub delivered: u64,
    /// Reports lost because too many waited.
    pub lost: u64,
    /// From a change to the pass.
    pub delay: Time,
    /// Least time between two reports.
    pub interval: Time,
    /// Cells in one unit of the depth.
    pub cells: u32,
    /// Bit order of the word.
    pub order: WordOrder,
    /// Changes that are reported.
    pub mode: ReportMode,
}

/// Requests to pause or resume queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowControlStatistics {
    /// Requests to pause that took effect.
    pub paused: u64,
    /// Requests to resume that took effect.
    pub resumed: u64,
    /// Requests for queues that do not exist.
    pub no_queue: u64,
    /// From the deparser to the effect.
    pub delay: Time,
}
