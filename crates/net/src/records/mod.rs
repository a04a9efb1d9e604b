//! Rows of measurement, in columns: the output of a run for storage and plots.
//!
//! All times are nanoseconds since the start of the run. The description of a column exists only
//! here; files and Python's tables read it from [`Rows`]. The module must not depend on the
//! consumer of rows.

mod columns;

use crate::rows;
pub use columns::{Column, ColumnFormat, Rows, Value, Values};
use sojourn_switch::PacketObservation;
pub use sojourn_switch::{CapturePoint, Verdict};

rows! {
    /// One row per packet that reached the bottleneck's queue, in the order of the verdicts.
    ///
    /// ```
    /// use sojourn_net::{PacketRows, Verdict};
    /// // How long the packets had waited that were sent.
    /// fn delays(rows: &PacketRows) -> Vec<u64> {
    ///     let sent = |row: &usize| rows.verdict[*row] == Verdict::Sent as u8;
    ///     (0..rows.len()).filter(sent).map(|row| rows.dequeued[row] - rows.enqueued[row]).collect()
    /// }
    /// assert!(delays(&PacketRows::default()).is_empty());
    /// ```
    pub struct PacketRows {
        /// Number of the packet within the run.
        packet: u64 => .means("identity within the run"),
        /// Index of its flow in the configuration.
        flow: u32 => .means("index in the scenario, from 0"),
        /// Bytes on the wire without FCS.
        size: u32 => .unit("B").means("Ethernet frame"),
        /// Queue at the port.
        queue: u8,
        /// Time of its enqueueing.
        enqueued: u64 => .time().means("entered the bottleneck's queue"),
        /// Time of its dequeueing; equal to `enqueued` for drops before the queue.
        dequeued: u64 => .time().means("left it; equal to enqueued for a drop before the queue"),
        /// A [`Verdict`] as its number.
        verdict: u8 => .names(),
    }
}

impl PacketRows {
    /// Adds the rows of packets.
    pub fn extend(&mut self, packets: &[PacketObservation]) {
        self.packet.extend(packets.iter().map(|row| row.packet.0));
        self.flow.extend(packets.iter().map(|row| row.flow.0));
        self.size.extend(packets.iter().map(|row| row.size.0 as u32));
        self.queue.extend(packets.iter().map(|row| row.queue));
        self.enqueued.extend(packets.iter().map(|row| row.enqueued.0));
        self.dequeued.extend(packets.iter().map(|row| row.dequeued.0));
        self.verdict.extend(packets.iter().map(|row| row.verdict as u8));
    }

    /// Adds the row of a packet.
    pub fn push(&mut self, packet: &PacketObservation) {
        self.extend(std::slice::from_ref(packet));
    }
}

rows! {
    /// Samples of every started flow, one each 10 ms.
    pub struct FlowRows {
        /// Time of the sample.
        time: u64 => .time().means("of the sample"),
        /// The flow: its index in the configuration.
        flow: u32,
        /// Congestion window in bytes; 0 for UDP.
        cwnd: u32 => .unit("B"),
        /// Slow-start threshold in bytes; `u64::MAX` while none is set, and for UDP.
        ssthresh: u64 => .unit("B"),
        /// Smoothed round-trip time in ns; 0 before the first sample, and for UDP.
        srtt: u64 => .time().means("smoothed round-trip time, 0 before the first sample"),
        /// Payload bytes delivered to the receiving application since the start (goodput).
        delivered: u64 => .unit("B").means("goodput so far"),
        /// Segments retransmitted since the start.
        retransmits: u64 => .unit("segments"),
        /// Bytes that the sender believes to be in the network (RFC 6675's pipe); 0 for UDP.
        in_flight: u32 => .unit("B"),
    }
}

rows! {
    /// Transfers and requests, each when it is complete; those that are not follow at the end of the
    /// run.
    pub struct ExchangeRows {
        /// Flow as in the packet rows; each transfer of a source has one of its own.
        flow: u32 => .means("as in the packets' rows"),
        /// Index of its configured flow in the configuration.
        source: u32 => .means("index in the scenario, from 0"),
        /// Number of the request within its flow, which for requests at fixed instants is that of
        /// the instant; 0 for a transfer.
        number: u32 => .means("of the request within its flow"),
        /// Bytes of the transfer or the response.
        size: u64 => .unit("B").means("transfer or response"),
        /// Time at which its connection was opened, or the request written.
        started: u64 => .time().means("connection opened, or request written"),
        /// Arrival of the last byte; 0 if the run ended before.
        finished: u64 => .time().means("the last byte was there; 0 if the run ended before"),
    }
}

rows! {
    /// Datagrams of voices, in the order of their arrival.
    pub struct DatagramRows {
        /// The flow: its index in the configuration.
        flow: u32 => .means("index in the scenario, from 0"),
        /// Number of the datagram within its flow; those that are missing were lost.
        number: u32 => .means("those that are missing were lost"),
        /// Time of sending.
        sent: u64 => .time().means("by the voice"),
        /// Arrival of its last bit.
        received: u64 => .time().means("its last bit"),
    }
}

/// A frame as it was seen on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// Time of its last bit.
    pub time: u64,
    /// Capture point.
    pub point: CapturePoint,
    /// Its bytes up to the payload of zeros.
    pub bytes: Vec<u8>,
    /// Its length on the wire without FCS; what `bytes` lacks are zeros.
    pub original_len: u32,
}

impl From<sojourn_switch::CapturedFrame> for CapturedFrame {
    fn from(frame: sojourn_switch::CapturedFrame) -> CapturedFrame {
        let sojourn_switch::CapturedFrame { time, point, packet, .. } = frame;
        let original_len = packet.len().0 as u32;
        CapturedFrame { time: time.0, point, bytes: packet.bytes, original_len }
    }
}
