//! Output of a switch: packets for the wires, and one row of measurement per packet.
//!
//! The types are plain data. Ports marked as observed produce rows of packets, except for copies
//! that mirror sessions make. Ports marked for capture produce frames. This file must not depend on
//! the consumer of either.

use sojourn_packet::PortId;
use sojourn_packet::{Bytes, FlowId, Packet, PacketId, Time};

/// A packet on its way out of a front-panel port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transmit {
    /// The port.
    pub port: PortId,
    /// The frame, without FCS.
    pub packet: Packet,
    /// Start of its preamble on the wire.
    pub start: Time,
    /// End of its FCS on the wire; it arrives later by the wire's propagation delay.
    pub end: Time,
}

/// Fate of a packet at an observed port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Verdict {
    /// Sent as it was.
    Sent = 0,
    /// Dropped at the queue by its management: a P4 program in egress, or a native discipline.
    Aqm = 1,
    /// Dropped for lack of room when it should have been enqueued.
    Tail = 2,
    /// Sent with a Congestion Experienced mark that it did not have on arrival at the switch.
    Mark = 3,
    /// Dropped by a P4 program in ingress, before any queue: by an AQM that decides there, or
    /// because it is not forwarded. The switch cannot distinguish these.
    Ingress = 4,
}

impl Verdict {
    /// Names in files, in the order of their numbers.
    ///
    /// ```
    /// use sojourn_switch::Verdict;
    ///
    /// assert_eq!(Verdict::NAMES[Verdict::Mark as usize], "mark");
    /// ```
    pub const NAMES: [&str; 5] = ["sent", "aqm", "tail", "mark", "ingress"];
}

/// One packet at an observed port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketObservation {
    /// The packet.
    pub packet: PacketId,
    /// Its flow.
    pub flow: FlowId,
    /// Its length as it arrived at the switch, without FCS and without bridged headers.
    pub size: Bytes,
    /// The port.
    pub port: PortId,
    /// The queue.
    pub queue: u8,
    /// Time of its enqueueing, or for a drop before the queue the time at which it would have been
    /// enqueued.
    pub enqueued: Time,
    /// Time of its dequeueing or drop; `dequeued - enqueued` is its sojourn time.
    pub dequeued: Time,
    /// Fate of the packet.
    pub verdict: Verdict,
}

/// Capture point of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CapturePoint {
    /// On arrival at the port's queues, even if it is dropped there at once.
    Entered = 0,
    /// On departure from the port.
    Left = 1,
}

/// A frame at a port marked for capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// Time of its enqueueing (entered) or dequeueing (left), so that frames are in the order of
    /// time and agree with the rows.
    pub time: Time,
    /// Capture point.
    pub point: CapturePoint,
    /// The port.
    pub port: PortId,
    /// Entered: the frame as it arrived at the switch. Left: the frame as it goes on the wire.
    pub packet: Packet,
}

/// Something measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A packet's fate is decided.
    Packet(PacketObservation),
    /// A frame was captured.
    Frame(CapturedFrame),
}
