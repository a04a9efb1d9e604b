//! Rows of measurement, a column each: what a run hands to whoever stores or plots it.
//!
//! All times are nanoseconds since the start of the run. Knows nothing of where rows go.

use sojourn_switch::PacketObservation;
pub use sojourn_switch::Verdict;

/// One row per packet that reached the bottleneck's queue, in the order of the verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketRows {
    /// Number of the packet within the run.
    pub packet: Vec<u64>,
    /// Flow it belongs to: its index in the configuration.
    pub flow: Vec<u32>,
    /// Bytes on the wire without FCS.
    pub size: Vec<u32>,
    /// Queue at the port.
    pub queue: Vec<u8>,
    /// When it was enqueued.
    pub enqueued: Vec<u64>,
    /// When it was dequeued; equal to `enqueued` for drops before the queue.
    pub dequeued: Vec<u64>,
    /// A [`Verdict`] as its number.
    pub verdict: Vec<u8>,
}

impl PacketRows {
    /// Adds the row of a packet.
    pub fn push(&mut self, packet: &PacketObservation) {
        self.packet.push(packet.packet.0);
        self.flow.push(packet.flow.0);
        self.size.push(packet.size.0 as u32);
        self.queue.push(packet.queue);
        self.enqueued.push(packet.enqueued.0);
        self.dequeued.push(packet.dequeued.0);
        self.verdict.push(packet.verdict as u8);
    }

    /// How many rows wait.
    pub fn len(&self) -> usize {
        self.packet.len()
    }

    /// True if no row waits.
    pub fn is_empty(&self) -> bool {
        self.packet.is_empty()
    }
}

/// Samples of every started flow, one each 10 ms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowRows {
    /// When the sample was taken.
    pub time: Vec<u64>,
    /// The flow: its index in the configuration.
    pub flow: Vec<u32>,
    /// Congestion window in bytes; 0 for UDP.
    pub cwnd: Vec<u32>,
    /// Slow-start threshold in bytes; `u64::MAX` while none is set, and for UDP.
    pub ssthresh: Vec<u64>,
    /// Smoothed round-trip time in ns; 0 before the first sample, and for UDP.
    pub srtt: Vec<u64>,
    /// Payload bytes handed to the receiving application since the start (goodput).
    pub delivered: Vec<u64>,
    /// Segments retransmitted since the start.
    pub retransmits: Vec<u64>,
    /// Bytes that the sender believes to be in the network (RFC 6675's pipe); 0 for UDP.
    pub in_flight: Vec<u32>,
}

impl FlowRows {
    /// How many rows wait.
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// True if no row waits.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }
}

/// Transfers and requests, each when it is complete; those that are not follow at the end of the
/// run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeRows {
    /// Flow as in the packet rows; each transfer of a source has one of its own.
    pub flow: Vec<u32>,
    /// The configured flow that it belongs to: its index in the configuration.
    pub source: Vec<u32>,
    /// Number of the request within its flow, which for requests at fixed instants is that of the
    /// instant; 0 for a transfer.
    pub number: Vec<u32>,
    /// Bytes of the transfer or the response.
    pub size: Vec<u64>,
    /// When its connection was opened, or the request written.
    pub started: Vec<u64>,
    /// When the last byte was there; 0 if the run ended before.
    pub finished: Vec<u64>,
}

impl ExchangeRows {
    /// How many rows wait.
    pub fn len(&self) -> usize {
        self.flow.len()
    }

    /// True if no row waits.
    pub fn is_empty(&self) -> bool {
        self.flow.is_empty()
    }
}

/// Datagrams of voices, in the order of their arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatagramRows {
    /// The flow: its index in the configuration.
    pub flow: Vec<u32>,
    /// Number of the datagram within its flow; those that are missing were lost.
    pub number: Vec<u32>,
    /// When it was sent.
    pub sent: Vec<u64>,
    /// When its last bit arrived.
    pub received: Vec<u64>,
}

impl DatagramRows {
    /// How many rows wait.
    pub fn len(&self) -> usize {
        self.flow.len()
    }

    /// True if no row waits.
    pub fn is_empty(&self) -> bool {
        self.flow.is_empty()
    }
}

/// Where a frame was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CapturePoint {
    /// Its last bit had reached the switch on the bottleneck's way.
    Entered = 0,
    /// Its last bit had left the bottleneck port.
    Left = 1,
}

/// A frame as it was seen on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// When its last bit passed.
    pub time: u64,
    /// Where it was seen.
    pub point: CapturePoint,
    /// Its bytes up to the payload of zeros.
    pub bytes: Vec<u8>,
    /// Its length on the wire without FCS; what `bytes` lacks are zeros.
    pub original_len: u32,
}
