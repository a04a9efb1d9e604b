//! Tail drop against ns-3.

use super::{Bursts, Case, Flows, PLAIN, ns3};

pub const CASES: &[Case] = &[
    Case {
        discipline: "fifo",
        about: "30 packets",
        recording: "fifo-packets",
        parameters: &[("limit_packets", 30)],
        source: ns3("FifoQueueDisc", "MaxSize=30p"),
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "fifo",
        about: "40 kB",
        recording: "fifo-bytes",
        parameters: &[("limit_bytes", 40_000)],
        source: ns3("FifoQueueDisc", "MaxSize=40000B"),
        traces: &[Bursts, Flows],
        ..PLAIN
    },
];
