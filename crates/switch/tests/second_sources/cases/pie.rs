//! PIE with ns-3's dice, and Linux's with the kernel's.

use super::{Bursts, Case, Ecn, Flows, Overload, PLAIN, Ramp, Source, linux, ns3};

const PIE: Source = ns3("PieQueueDisc", "MaxSize=100000p MaxBurstAllowance=0s MeanPktSize=1514");
const PIE_EVEN: Source = ns3(
    "PieQueueDisc",
    "MaxSize=100000p MaxBurstAllowance=0s MeanPktSize=1514 UseDerandomization=true",
);
const PIE_ECN: Source =
    ns3("PieQueueDisc", "MaxSize=100000p MaxBurstAllowance=0s MeanPktSize=1514 UseEcn=true");
const PIE_EVEN_ECN: Source = ns3(
    "PieQueueDisc",
    "MaxSize=100000p MaxBurstAllowance=0s MeanPktSize=1514 UseDerandomization=true UseEcn=true \
     MarkEcnThreshold=0.15",
);

pub const CASES: &[Case] = &[
    Case {
        discipline: "pie",
        about: "random",
        recording: "pie",
        parameters: &[("max_burst", 0)],
        source: PIE,
        traces: &[Overload, Bursts, Ramp],
        ..PLAIN
    },
    Case {
        discipline: "pie",
        about: "derandomised",
        recording: "pie-even",
        parameters: &[("max_burst", 0), ("derandomize", 1)],
        source: PIE_EVEN,
        traces: &[Overload, Bursts, Ramp],
        ..PLAIN
    },
    Case {
        discipline: "pie",
        about: "ecn",
        recording: "pie-ecn",
        parameters: &[("max_burst", 0), ("ecn", 1)],
        source: PIE_ECN,
        ecn: Ecn::Mixed,
        traces: &[Overload, Bursts, Ramp],
        ..PLAIN
    },
    Case {
        discipline: "pie",
        about: "derandomised, ecn up to 15 %",
        recording: "pie-even-ecn",
        parameters: &[("max_burst", 0), ("derandomize", 1), ("ecn", 1), ("mark_ecnth", 150_000)],
        source: PIE_EVEN_ECN,
        undo: true,
        ecn: Ecn::Mixed,
        traces: &[Overload, Bursts, Ramp],
        ..PLAIN
    },
    Case {
        discipline: "pie_linux",
        about: "drops",
        recording: "pie",
        source: linux("pie", ""),
        traces: &[Overload, Ramp, Flows],
        ..PLAIN
    },
    Case {
        discipline: "pie_linux",
        about: "ecn, 60 packets",
        recording: "pie-ecn",
        parameters: &[("ecn", 1), ("limit_packets", 60)],
        source: linux("pie", "ecn=1 limit=60"),
        ecn: Ecn::Mixed,
        ..PLAIN
    },
];
