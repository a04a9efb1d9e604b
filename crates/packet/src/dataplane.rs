//! Interface between a data plane and a switch: the inputs and decisions of each pass.
//!
//! Every architecture with an ingress pass, a traffic manager and an egress pass fits. The
//! implementor holds registers and tables. It must not depend on queues, port rates or any clock
//! but the instants that it receives. The switch must not depend on the data plane's
//! implementation.

use crate::forwarder::Forwarder;
use crate::multithreaded::Overlapping;
use crate::packet::Packet;
use crate::packet_metadata::PacketMetadata;
pub use crate::pass_output::{EgressOutput, IngressOutput};
use crate::program_log::ProgramLog;
use crate::units::Time;
use serde::{Deserialize, Serialize};
use std::any::Any;

/// A port, by the data plane's number (Tofino: the 9-bit `dev_port`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PortId(pub u16);

/// A packet that enters the ingress pass.
#[derive(Clone, Copy, Debug)]
pub struct IngressInput {
    /// Input port.
    pub port: PortId,
    /// Arrival of its last bit (the MAC's timestamp).
    pub arrived: Time,
    /// Start of the ingress parser.
    pub now: Time,
    /// True for a packet on another ingress pass of its own; on Tofino its bytes then start with
    /// the resubmit data.
    pub resubmitted: bool,
}

/// Destinations of a packet after its ingress pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    /// Unicast port, if one was set and not dropped.
    pub unicast: Option<PortId>,
    /// Queue at that port.
    pub queue: u8,
    /// Ingress class of service.
    pub cos: u8,
    /// Packet colour for the traffic manager: 0 green, 1 and 2 yellow, 3 red (TNA).
    pub color: u8,
    /// Skip the egress pass (`bypass_egress`).
    pub bypass_egress: bool,
    /// If its queue has no room, the packet goes to the deflection queue of the port's pipe
    /// (`deflect_on_drop`).
    pub deflect_on_drop: bool,
    /// Copies, if a group was set and not dropped, or one is for the CPU.
    pub replication: Option<Replication>,
}

impl Admission {
    /// True if the packet has no destination: it is dropped.
    #[inline]
    pub fn is_nowhere(&self) -> bool {
        self.unicast.is_none() && self.replication.is_none()
    }
}

/// The multicast request of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replication {
    /// Group identifiers (Tofino has two, a and b).
    pub groups: [Option<u16>; 2],
    /// Replication id given to the copies.
    pub rid: u16,
    /// Level-1 exclusion id.
    pub l1_exclusion: u16,
    /// Level-2 exclusion id.
    pub l2_exclusion: u16,
    /// A copy for the CPU port, if one is configured.
    pub copy_to_cpu: bool,
}

/// Pass that requested a mirror copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MirrorDirection {
    /// The copy is the packet as received, behind the mirror header.
    Ingress,
    /// The copy is the packet as the egress deparser wrote it, behind the mirror header.
    Egress,
}

/// A request to send a copy through a mirror session.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// Session, configured in the switch.
    pub session: u16,
    /// Deparser that requested it.
    pub direction: MirrorDirection,
    /// The copy, mirror header in front, not yet truncated.
    pub packet: Packet,
    /// Length of the mirror header in bytes.
    pub header_len: u16,
    /// Metadata of the copy in addition to its bytes.
    pub packet_metadata: PacketMetadata,
    /// Fields of the mirror session that the packet overrides.
    pub overrides: MirrorOverrides,
}

/// Settings of a copy that take precedence over those of its session (Tofino 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MirrorOverrides {
    /// Port of the copy.
    pub port: Option<PortId>,
    /// Queue at that port.
    pub queue: Option<u8>,
    /// Class of service.
    pub cos: Option<u8>,
    /// It asks for deflection if its queue has no room.
    pub deflect_on_drop: Option<bool>,
}

/// A request to pause or resume a queue (advanced flow control of Tofino 2, mode XOFF).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// Port of the queue.
    pub port: PortId,
    /// The queue.
    pub queue: u8,
    /// True pauses it, false resumes it.
    pub pause: bool,
}

/// A report of the traffic manager that the depth of a queue has changed, for a ghost thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthReport {
    /// Time at which the report enters the pipeline.
    pub now: Time,
    /// Port of the queue.
    pub port: PortId,
    /// The queue.
    pub queue: u8,
    /// Its depth, in the unit that the switch is configured for.
    pub depth: u32,
    /// Bit order of the word that carries the report.
    pub order: WordOrder,
}

/// Bit order of a depth report's word. The open-source compiler and the vendor's reference model
/// contradict each other; a compiled program reads the bits where the compiler expects them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordOrder {
    /// `ping_pong`, `qlength`, `qid`, `pipe_id` from bit 31 down.
    #[default]
    Compiler,
    /// `ping_pong`, `pipe_id`, `qid`, `qlength` from bit 31 down.
    Model,
}

/// Changes of a queue's depth that a traffic manager reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportMode {
    /// Each.
    #[default]
    Any,
    /// Those across a limit of the queue for packets of a colour.
    Color,
}

/// Decision of an ingress pass about its packet, which the pass has modified in place.
#[derive(Clone, Debug, Default)]
pub struct IngressDecision {
    /// Destinations of the packet, bridged headers in front; without any it is dropped.
    pub admission: Admission,
    /// The packet is to pass ingress once more, on Tofino with resubmit data in front. If that is
    /// not allowed, `admission` applies.
    pub resubmit: bool,
    /// At most one mirrored copy.
    pub mirror: Option<Box<Mirror>>,
    /// True if the parser ended in an error. On Tofino that drops the packet, unless the program
    /// reads the error; on v1model it never does.
    pub parser_rejected: bool,
    /// A queue to pause or resume.
    pub flow_control: Option<FlowControl>,
}

impl IngressDecision {
    /// Sends the packet on.
    #[inline]
    pub fn admit(admission: Admission) -> IngressDecision {
        IngressDecision { admission, ..IngressDecision::default() }
    }
}

/// A packet that enters the egress pass, with the traffic manager's measurements.
#[derive(Clone, Copy, Debug, Default)]
pub struct EgressInput {
    /// Output port.
    pub port: PortId,
    /// Queue at that port.
    pub queue: u8,
    /// Class of service it was queued under.
    pub cos: u8,
    /// Time of its enqueueing.
    pub enqueued: Time,
    /// Time of its dequeueing.
    pub dequeued: Time,
    /// Start of the egress parser.
    pub now: Time,
    /// Queue depth when it was enqueued, in 80-byte cells.
    pub enqueue_depth: u32,
    /// Queue depth when it was dequeued, in cells, without itself.
    pub dequeue_depth: u32,
    /// Congestion status of the queue at enqueue, 0 (below red) to 3.
    pub enqueue_congestion: u8,
    /// Congestion status of the queue at dequeue.
    pub dequeue_congestion: u8,
    /// Congestion status of the four application pools, two bits each.
    pub pool_congestion: u8,
    /// Packets in the queue at enqueue and dequeue, for architectures that count packets.
    pub enqueue_packets: u32,
    /// See `enqueue_packets`.
    pub dequeue_packets: u32,
    /// Replication id; 0 for unicast.
    pub rid: u16,
    /// First copy of its replication id.
    pub rid_first: bool,
    /// Length in bytes as the traffic manager counts it, bridged headers and FCS included.
    pub length: u32,
    /// True for a copy that a mirror session made.
    pub mirrored: bool,
    /// True for a packet whose queue had no room, in the deflection queue.
    pub deflected: bool,
}

/// Fate of a packet after egress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EgressFate {
    /// It is dropped.
    #[default]
    Dropped,
    /// It goes to its port's wire.
    Sent,
    /// It returns to ingress.
    Recirculated,
}

/// Decision of an egress pass about its packet, which the pass has modified in place.
#[derive(Clone, Debug, Default)]
pub struct EgressDecision {
    /// Fate of the packet.
    pub fate: EgressFate,
    /// At most one mirrored copy, made also of a dropped packet.
    pub mirror: Option<Box<Mirror>>,
    /// True if the parser rejected the packet.
    pub parser_rejected: bool,
    /// A queue to pause or resume.
    pub flow_control: Option<FlowControl>,
}

impl From<EgressFate> for EgressDecision {
    #[inline]
    fn from(fate: EgressFate) -> EgressDecision {
        EgressDecision { fate, ..EgressDecision::default() }
    }
}

/// Faults of one kind during a run, for its counters: operations that the switch does not support,
/// or failed assertions of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultReport {
    /// Kind, in words for the user.
    pub kind: &'static str,
    /// Number of faults.
    pub count: u64,
    /// Message of the first.
    pub first: String,
    /// File, line and column of the first, if they are known.
    pub place: Option<String>,
}

/// Decides about packets in two passes, with a traffic manager between them.
///
/// As [`Any`] it can be converted back to its concrete type: so a control plane reaches a running
/// program.
///
/// A pass receives a packet in place, modifies it there, and returns its fate. `id` and `flow`,
/// which identify the packet, never change, even if it is dropped.
///
/// ```
/// use sojourn_packet::*;
/// /// Sends everything back where it came from, and drops what waited for more than 5 ms.
/// struct Echo;
/// impl DataPlane for Echo {
///     fn ingress_pass(&mut self, input: &IngressInput, _: &mut Packet, _: &mut PacketMetadata) -> IngressDecision {
///         IngressDecision::admit(Admission { unicast: Some(input.port), ..Admission::default() })
///     }
///     fn egress_pass(&mut self, input: &EgressInput, _: &mut Packet, _: &mut PacketMetadata) -> EgressDecision {
///         let late = input.dequeued - input.enqueued > Time::from_millis(5);
///         if late { EgressFate::Dropped.into() } else { EgressFate::Sent.into() }
///     }
/// }
/// let waited = |ms| EgressInput { dequeued: Time::from_millis(ms), ..EgressInput::default() };
/// assert!(Echo.egress(&waited(5), Packet::default()).packet.is_some());
/// assert!(Echo.egress(&waited(6), Packet::default()).packet.is_none());
/// ```
pub trait DataPlane: Any + Send {
    /// Runs the ingress pass on a packet. `packet_metadata` holds the metadata of the pass before,
    /// and receives that for the following one.
    fn ingress_pass(
        &mut self,
        input: &IngressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> IngressDecision;

    /// Runs the egress pass, likewise.
    fn egress_pass(
        &mut self,
        input: &EgressInput,
        packet: &mut Packet,
        packet_metadata: &mut PacketMetadata,
    ) -> EgressDecision;

    /// Ingress pass of a packet on its own, with the metadata of the pass before.
    fn ingress_carrying(
        &mut self,
        input: &IngressInput,
        mut packet: Packet,
        mut packet_metadata: PacketMetadata,
    ) -> IngressOutput {
        let decision = self.ingress_pass(input, &mut packet, &mut packet_metadata);
        IngressOutput::new(decision, packet, packet_metadata)
    }

    /// The egress pass, likewise.
    fn egress_carrying(
        &mut self,
        input: &EgressInput,
        mut packet: Packet,
        mut packet_metadata: PacketMetadata,
    ) -> EgressOutput {
        let decision = self.egress_pass(input, &mut packet, &mut packet_metadata);
        EgressOutput::new(decision, packet, packet_metadata)
    }

    /// The ingress pass on a packet that arrived at a port.
    fn ingress(&mut self, input: &IngressInput, packet: Packet) -> IngressOutput {
        self.ingress_carrying(input, packet, PacketMetadata::default())
    }

    /// The egress pass on a packet without metadata.
    fn egress(&mut self, input: &EgressInput, packet: Packet) -> EgressOutput {
        self.egress_carrying(input, packet, PacketMetadata::default())
    }

    /// True if the data plane takes reports of queue depths ([`DataPlane::depth_report`]).
    fn takes_depth_reports(&self) -> bool {
        false
    }

    /// Takes a report that the depth of a queue has changed.
    fn depth_report(&mut self, _: &DepthReport) {}

    /// This data plane as a [`Forwarder`], if it only chooses ports: the switch then skips its
    /// passes.
    fn forwarder(&self) -> Option<&dyn Forwarder> {
        None
    }

    /// True if a frame leaves each pair of passes with an Ethernet header in front of the bytes
    /// behind its original one, and those bytes are neither read nor passed on in a copy: only
    /// their length matters then.
    fn reads_ethernet_alone(&self) -> bool {
        false
    }

    /// This data plane as an [`Overlapping`] one, if its ingress passes take time: the switch then
    /// submits them and does not call [`DataPlane::ingress_pass`], which runs a pass on its own.
    fn overlapping(&mut self) -> Option<&mut dyn Overlapping> {
        None
    }

    /// Faults so far, by kind.
    fn faults(&self) -> Vec<FaultReport> {
        Vec::new()
    }

    /// Lines that the program wrote into its log since the last call.
    fn take_log(&mut self) -> ProgramLog {
        ProgramLog::default()
    }
}
