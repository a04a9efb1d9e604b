//! Report of a live switch: its counters in addition to the switch's statistics.

use crate::tx_delay::Percentiles;
use serde::Serialize;

/// One port's interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortReport {
    /// The port.
    pub port: u16,
    /// Its interface.
    pub interface: String,
    /// Frames and bytes that came in.
    pub received: u64,
    /// See `received`.
    pub received_bytes: u64,
    /// Frames and bytes that went out.
    pub sent: u64,
    /// See `sent`.
    pub sent_bytes: u64,
    /// Frames that the kernel dropped because the switch did not take them in time.
    pub lost: u64,
    /// Frames that the interface did not take.
    pub not_sent: u64,
    /// Frames for which the way that they were to be held on had no room.
    pub not_held: u64,
    /// Frames longer than an interface's, which only offloads make.
    pub oversized: u64,
    /// Frames whose sender left a checksum for hardware to fill in.
    pub unfinished: u64,
    /// Number of failures of the interface: it was absent or down.
    pub failures: u64,
}

/// The whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LiveReport {
    /// Start time, ns of the machine's monotonic clock.
    pub started: u64,
    /// Time since the start, ns.
    pub elapsed: u64,
    /// In the order in which they were given.
    pub ports: Vec<PortReport>,
    /// Delay of frames beyond their due time, at ports with a shaper, ns.
    pub lateness: Percentiles,
    /// It went before all threads of ordinary priority.
    pub realtime: bool,
    /// Rows lost because the buffer was full.
    pub rows_lost: u64,
    /// Arrivals that were to be recorded and are lost for the same reason.
    pub arrivals_lost: u64,
    /// Frames for ports that have no interface.
    pub nowhere: u64,
}
