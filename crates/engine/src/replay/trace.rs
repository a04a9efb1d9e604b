//! The rows of a trace, and a decision about one of them.
//!
//! Plain data. Times are ns since the start of the run that the trace is from.

use sojourn_packet::{Bytes, Time};

/// A packet that leaves a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dequeue {
    /// Time of departure.
    pub time: Time,
    /// Sojourn time in the queue.
    pub sojourn: Time,
    /// Bytes left in the queue behind it, frames without FCS.
    pub backlog: Bytes,
    /// The same in the traffic manager's cells of 80 bytes, each packet with its FCS.
    pub cells: u32,
    /// The same in packets.
    pub packets: u32,
    /// Its own length: the frame without FCS.
    pub size: u32,
}

sojourn_net::rows! {
    /// A trace, a column each.
    pub struct TraceRows {
        /// See [`Dequeue::time`].
        time: u64 => .time(),
        /// See [`Dequeue::sojourn`].
        sojourn: u64 => .time(),
        /// See [`Dequeue::backlog`].
        backlog: u64 => .unit("B"),
        /// See [`Dequeue::cells`].
        cells: u32 => .unit("cells"),
        /// See [`Dequeue::packets`].
        packets: u32 => .unit("packets"),
        /// See [`Dequeue::size`].
        size: u32 => .unit("B"),
    }
}

impl TraceRows {
    /// Appends a row.
    pub fn push(&mut self, row: &Dequeue) {
        self.time.push(row.time.0);
        self.sojourn.push(row.sojourn.0);
        self.backlog.push(row.backlog.0);
        self.cells.push(row.cells);
        self.packets.push(row.packets);
        self.size.push(row.size);
    }

    /// All rows in turn.
    pub fn rows(&self) -> impl Iterator<Item = Dequeue> + '_ {
        (0..self.len()).map(|i| Dequeue {
            time: Time(self.time[i]),
            sojourn: Time(self.sojourn[i]),
            backlog: Bytes(self.backlog[i]),
            cells: self.cells[i],
            packets: self.packets[i],
            size: self.size[i],
        })
    }
}

/// Decision of an AQM about a packet, with its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// True if it is dropped.
    pub dropped: bool,
    /// True if a mirrored copy was still in transit to the registers when the packet arrived.
    pub unsynchronised: bool,
}

/// Bit of [`Decision::bits`] for a dropped packet.
pub const DECISION_DROPPED: u8 = 1;
/// Bit of [`Decision::bits`] for a packet that saw registers with a copy still in transit.
pub const DECISION_UNSYNCHRONISED: u8 = 2;

impl Decision {
    /// Both results in one byte.
    pub fn bits(self) -> u8 {
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        bit(self.dropped, DECISION_DROPPED) | bit(self.unsynchronised, DECISION_UNSYNCHRONISED)
    }
}
