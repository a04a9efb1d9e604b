//! CAKE and its AQM, COBALT, as Linux has them.

use super::{Bursts, Case, Ecn, Flows, PLAIN, linux};

/// As `tc ... cake besteffort flows`.
const FLOWS_ONLY: [(&str, u64); 2] = [("srchost", 0), ("dsthost", 0)];
/// As `flowblind`.
const FLOWBLIND: [(&str, u64); 3] = [("srchost", 0), ("dsthost", 0), ("flows", 0)];

pub const CASES: &[Case] = &[
    Case {
        discipline: "cobalt",
        about: "drops",
        recording: "cobalt",
        source: linux("cake", "cobalt=1"),
        ..PLAIN
    },
    Case {
        discipline: "cobalt",
        about: "ecn",
        recording: "cobalt-ecn",
        source: linux("cake", "cobalt=1"),
        ecn: Ecn::Mixed,
        ..PLAIN
    },
    Case {
        discipline: "cobalt",
        about: "ecn, 30 kB",
        recording: "cobalt-limit",
        parameters: &[("memlimit", 30_000)],
        source: linux("cake", "cobalt=1 memlimit=30000"),
        ecn: Ecn::Mixed,
        ..PLAIN
    },
    Case {
        discipline: "cake",
        about: "triple-isolate",
        recording: "cake",
        source: linux("cake", ""),
        ..PLAIN
    },
    Case {
        discipline: "cake",
        about: "triple-isolate, ecn",
        recording: "cake-ecn",
        source: linux("cake", ""),
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "cake",
        about: "flows, rtt of 20 ms",
        recording: "cake-flows",
        parameters: &[FLOWS_ONLY[0], FLOWS_ONLY[1], ("rtt", 20_000_000)],
        source: linux("cake", "flow_mode=4 target=1000000 interval=20000000"),
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "cake",
        about: "dual-srchost, 60 kB",
        recording: "cake-limit",
        parameters: &[("dsthost", 0), ("memlimit", 60_000)],
        source: linux("cake", "flow_mode=5 memlimit=60000"),
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "cake",
        about: "flowblind, 60 kB",
        recording: "cake-flowblind",
        parameters: &[FLOWBLIND[0], FLOWBLIND[1], FLOWBLIND[2], ("memlimit", 60_000)],
        source: linux("cake", "flow_mode=0 memlimit=60000"),
        ecn: Ecn::Mixed,
        ..PLAIN
    },
];
