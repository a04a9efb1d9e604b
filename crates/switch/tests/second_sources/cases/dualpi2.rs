//! PI2, and DualPI2 against Linux and against the RFC's listing.

use super::{Bursts, Case, Ecn, Flows, Overload, PLAIN, Ramp, Source, linux, rfc};

/// The kernel's gains are in 2^-32 per 64 ns; these are whole numbers of mHz too, to a part in five million.
const PI2: Source =
    linux("dualpi2", "drop_early=1 target=20000000 tupdate=32000000 alpha=732 beta=1464");
/// Linux ignores ECN where the coupled probability would exceed one, the paper does not: no coupling.
const PI2_ECN: Source = linux(
    "dualpi2",
    "drop_early=1 target=20000000 tupdate=32000000 alpha=732 beta=1464 coupling=1",
);
/// Without marks of the L4S queue's own, and that queue always first. What is still missing to the gains in
/// mHz is made good.
const DUALPI2: Source = linux(
    "dualpi2",
    "target=15000000 tupdate=15000000 alpha=732 beta=1464 mhz=2663 tshift=3600000000000",
);
/// The step alone: the controller has no gains. Linux says "above", the RFC "at least".
const STEP: Source = linux("dualpi2", "step=4999999");
const STEP_COUPLED: Source =
    linux("dualpi2", "target=15000000 tupdate=15000000 alpha=732 beta=1464 mhz=2663 step=4999999");
/// The same with an L4S queue that may be ahead by so little that the two often take turns.
const TURNS: Source = linux(
    "dualpi2",
    "target=15000000 tupdate=15000000 alpha=732 beta=1464 mhz=2663 step=4999999 tshift=4000000",
);
/// The kernel's own scheduler, and its own share of the queue that the controller leaves alone.
const WEIGHTS: Source =
    linux("dualpi2", "target=15000000 tupdate=15000000 alpha=732 beta=1464 mhz=2663 protection=10");
/// The same where delay may grow in overload.
const DELAY_GROWS: Source = linux(
    "dualpi2",
    "target=15000000 tupdate=15000000 alpha=732 beta=1464 mhz=2663 protection=10 drop_overload=0",
);
/// The kernel's scheduler as parameters of ours.
const WEIGHTED: [(&str, u64); 2] = [("classic_protection", 100_000), ("min_backlog", 3_028)];
const GAINS: [(&str, u64); 2] = [("alpha", 2_663), ("beta", 5_326)];
/// More than any packet waits.
const NEVER: u64 = 3_600_000_000_000;
/// A step of 5 ms, about four packets' time.
const STEP_AT: [(&str, u64); 2] = [("min_th", 5_000_000), ("range", 0)];

pub const CASES: &[Case] = &[
    Case {
        discipline: "pi2",
        about: "drops",
        recording: "pi2",
        parameters: &[GAINS[0], GAINS[1], ("p_cmax", 1_000_000)],
        source: PI2,
        ..PLAIN
    },
    Case {
        discipline: "pi2",
        about: "ecn",
        recording: "pi2-ecn",
        parameters: &[GAINS[0], GAINS[1], ("p_cmax", 1_000_000), ("ecn", 1)],
        source: PI2_ECN,
        ecn: Ecn::Classic,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "Classic traffic",
        recording: "dualpi2-classic",
        parameters: &[GAINS[0], GAINS[1], ("min_th", NEVER), ("tshift", NEVER)],
        source: DUALPI2,
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "L4S and Classic traffic",
        recording: "dualpi2",
        parameters: &[GAINS[0], GAINS[1], ("min_th", NEVER), ("tshift", NEVER)],
        source: DUALPI2,
        ecn: Ecn::Mixed,
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "a step alone",
        recording: "dualpi2-step",
        parameters: &[("alpha", 0), ("beta", 0), STEP_AT[0], STEP_AT[1]],
        source: STEP,
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "step and coupling",
        recording: "dualpi2-step-coupled",
        parameters: &[GAINS[0], GAINS[1], STEP_AT[0], STEP_AT[1]],
        source: STEP_COUPLED,
        ecn: Ecn::Mixed,
        traces: &[Overload, Ramp],
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "step, coupling, turns",
        recording: "dualpi2-turns",
        parameters: &[GAINS[0], GAINS[1], STEP_AT[0], STEP_AT[1], ("tshift", 4_000_000)],
        source: TURNS,
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "weights",
        recording: "dualpi2-weights",
        parameters: &[GAINS[0], GAINS[1], ("min_th", NEVER), WEIGHTED[0], WEIGHTED[1]],
        source: WEIGHTS,
        ecn: Ecn::Mixed,
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "weights, delay on saturation",
        recording: "dualpi2-delay-grows",
        parameters: &[
            GAINS[0],
            GAINS[1],
            ("min_th", NEVER),
            WEIGHTED[0],
            WEIGHTED[1],
            ("drop_on_overload", 0),
        ],
        source: DELAY_GROWS,
        ecn: Ecn::Mixed,
        traces: &[Overload, Ramp],
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "a ramp alone",
        recording: "dualpi2-ramp-alone",
        parameters: &[("alpha", 0), ("beta", 0)],
        source: rfc(9332, "alpha=0 beta=0"),
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "defaults",
        recording: "dualpi2-defaults",
        source: rfc(9332, ""),
        ecn: Ecn::Mixed,
        traces: &[Bursts, Ramp, Flows],
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "ramp of 10 ms, turns, 30 kB",
        recording: "dualpi2-turns",
        parameters: &[
            ("min_th", 2_000_000),
            ("range", 10_000_000),
            ("th_len", 2),
            ("tshift", 4_000_000),
            ("limit_bytes", 30_000),
        ],
        source: rfc(9332, "min_th=2000000 range=10000000 th_len=2 tshift=4000000 limit=30000"),
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
];
