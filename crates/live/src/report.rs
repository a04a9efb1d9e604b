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
    /// Frames and bytes received.
    pub received: u64,
    /// See `received`.
    pub received_bytes: u64,
    /// Frames and bytes sent.
    pub sent: u64,
    /// See `sent`.
    pub sent_bytes: u64,
    /// Frames that the kernel dropped because the switch did not receive them in time.
    pub lost: u64,
    /// Frames that the interface rejected.
    pub not_sent: u64,
    /// Frames dropped because their delay line was full.
    pub not_held: u64,
    /// Frames longer than the interface's limit, which only offloads produce.
    pub oversized: u64,
    /// Frames whose sender left the checksum to hardware.
    pub unfinished: u64,
    /// Number of failures of the interface: it was absent or down.
    pub failures: u64,
}

/// Report of the whole switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LiveReport {
    /// Start time, ns of the machine's monotonic clock.
    pub started: u64,
    /// Time since the start, ns.
    pub elapsed: u64,
    /// Ports, in the order of the configuration.
    pub ports: Vec<PortReport>,
    /// Delay of frames beyond their due time, at ports with a shaper, ns.
    pub lateness: Percentiles,
    /// True if the thread ran with real-time priority.
    pub realtime: bool,
    /// Rows lost because the buffer was full.
    pub rows_lost: u64,
    /// Recorded arrivals lost for the same reason.
    pub arrivals_lost: u64,
    /// Frames for ports without an interface.
    pub nowhere: u64,
}
