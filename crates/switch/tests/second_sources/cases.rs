//! What is compared: a discipline of ours with its parameters, a trace, and the same in a second source.
//!
//! One table. The programs of `bench/second_sources` are told their jobs from it, and the test and the
//! table of `docs/second-sources.md` read what they left. It must not know how anything is computed.

use crate::trace::Trace::{self, Bursts, Flows, Overload, Ramp};

/// Where the expectation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A queue disc of ns-3, with its attributes.
    Ns3 {
        /// Class.
        disc: &'static str,
        /// `NAME=VALUE`, apart by blanks.
        attributes: &'static str,
    },
    /// A qdisc of the Linux kernel.
    Linux {
        /// Its name.
        qdisc: &'static str,
        /// `NAME=VALUE`, apart by blanks.
        options: &'static str,
    },
}

/// One comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Ours.
    pub discipline: &'static str,
    /// What the case is about, in a word or two.
    pub about: &'static str,
    /// Name of the recording, together with the trace's; cases of the same job share it.
    pub recording: &'static str,
    /// Parameters that differ from the defaults.
    pub parameters: &'static [(&'static str, u64)],
    /// The other.
    pub source: Source,
    /// Whether the other is put right where it departs from the RFC or paper.
    pub undo: bool,
    /// What comes.
    pub traces: &'static [Trace],
    /// Flows have ECN fields.
    pub capable: bool,
    /// Both have to signal the same packets at the same times; otherwise the comparison only shows how
    /// far the other departs.
    pub equal: bool,
}

/// Seed of the numbers that both throw.
pub const SEED: u64 = 7;

const fn ns3(disc: &'static str, attributes: &'static str) -> Source {
    Source::Ns3 { disc, attributes }
}

const fn linux(qdisc: &'static str, options: &'static str) -> Source {
    Source::Linux { qdisc, options }
}

/// ns-3's queue is as long as it takes; CoDel's rule for small backlogs says "below" there.
const CODEL: Source = ns3("CoDelQueueDisc", "MaxSize=100000p MinBytes=1515");
const CODEL_EXACT_ECN: Source = ns3(
    "CoDelQueueDisc",
    "MaxSize=100000p MinBytes=1515 UseEcn=true Target=2560ms Interval=51200ms",
);
/// The same with times as they are when a tick is two nanoseconds.
const CODEL_EXACT: Source =
    ns3("CoDelQueueDisc", "MaxSize=100000p MinBytes=1515 Target=2560ms Interval=51200ms");
const FQ_CODEL: Source = ns3("FqCoDelQueueDisc", "MaxSize=10240p UseEcn=false");
const FQ_CODEL_EXACT: Source =
    ns3("FqCoDelQueueDisc", "MaxSize=10240p UseEcn=false Target=2560ms Interval=51200ms");
const FQ_CODEL_EXACT_ECN: Source =
    ns3("FqCoDelQueueDisc", "MaxSize=10240p Target=2560ms Interval=51200ms");
const FQ_CODEL_EXACT_LIMIT: Source =
    ns3("FqCoDelQueueDisc", "MaxSize=100p UseEcn=false Target=2560ms Interval=51200ms");
/// Thresholds so far up that no average is above them while one packet or none is queued, in which case
/// ns-3's RED spares everything.
const RED: Source = ns3(
    "RedQueueDisc",
    "MaxSize=100000p MinTh=20 MaxTh=60 LInterm=10 QW=0.02 Gentle=true Wait=false Ns1Compat=true \
     MeanPktSize=1514 LinkBandwidth=10Mbps",
);
const RED_STEEP: Source = ns3(
    "RedQueueDisc",
    "MaxSize=100000p MinTh=20 MaxTh=60 LInterm=10 QW=0.02 Gentle=false Wait=false Ns1Compat=true \
     MeanPktSize=1514 LinkBandwidth=10Mbps UseEcn=true",
);
/// With the paper's own thresholds and weight.
const RED_LOW: Source = ns3(
    "RedQueueDisc",
    "MaxSize=100000p MinTh=5 MaxTh=15 LInterm=50 QW=0.002 Gentle=true Wait=false Ns1Compat=true \
     MeanPktSize=1514 LinkBandwidth=10Mbps",
);
const PIE: Source = ns3("PieQueueDisc", "MaxSize=100000p MaxBurstAllowance=0s MeanPktSize=1514");
const PIE_EVEN: Source = ns3(
    "PieQueueDisc",
    "MaxSize=100000p MaxBurstAllowance=0s MeanPktSize=1514 UseDerandomization=true",
);

/// The kernel's gains are in 2^-32 per 64 ns; these are whole numbers of mHz too, to a part in a million.
const PI2: Source =
    linux("dualpi2", "drop_early=1 target=20000000 tupdate=32000000 alpha=732 beta=1069");
const DUALPI2: Source = linux("dualpi2", "target=15000000 tupdate=15000000 alpha=732 beta=1069");
const GAINS: [(&str, u64); 2] = [("alpha", 2_663), ("beta", 3_889)];
/// More than any packet waits.
const NEVER: u64 = 3_600_000_000_000;

const PLAIN: Case = Case {
    discipline: "",
    about: "",
    recording: "",
    parameters: &[],
    source: CODEL,
    undo: false,
    traces: &[Overload, Bursts, Ramp, Flows],
    capable: false,
    equal: true,
};

/// RED's parameters beside `gentle`; `s` is the transmission time of a full packet.
const RED_PARAMETERS: &[(&str, u64)] =
    &[("min_th", 20), ("max_th", 60), ("max_p", 100_000), ("w_q", 20_000), ("s", 1_211_200)];
const RED_STEEP_PARAMETERS: &[(&str, u64)] = &[
    ("min_th", 20),
    ("max_th", 60),
    ("max_p", 100_000),
    ("w_q", 20_000),
    ("s", 1_211_200),
    ("gentle", 0),
    ("ecn", 1),
];

/// All comparisons.
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
    Case { discipline: "codel", about: "drops", recording: "codel", equal: false, ..PLAIN },
    Case {
        discipline: "codel",
        about: "drops",
        recording: "codel-exact",
        source: CODEL_EXACT,
        undo: true,
        ..PLAIN
    },
    Case {
        discipline: "codel",
        about: "ecn",
        recording: "codel-exact-ecn",
        parameters: &[("ecn", 1)],
        source: CODEL_EXACT_ECN,
        undo: true,
        capable: true,
        traces: &[Flows],
        ..PLAIN
    },
    Case {
        discipline: "codel_linux",
        about: "drops",
        recording: "codel",
        parameters: &[("limit", 100_000)],
        ..PLAIN
    },
    Case {
        discipline: "fq_codel",
        about: "drops",
        recording: "fq_codel",
        parameters: &[("ecn", 0)],
        source: FQ_CODEL,
        traces: &[Bursts, Flows],
        equal: false,
        ..PLAIN
    },
    Case {
        discipline: "fq_codel",
        about: "drops",
        recording: "fq_codel-exact",
        parameters: &[("ecn", 0)],
        source: FQ_CODEL_EXACT,
        undo: true,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "fq_codel",
        about: "ecn",
        recording: "fq_codel-exact-ecn",
        source: FQ_CODEL_EXACT_ECN,
        undo: true,
        capable: true,
        traces: &[Flows],
        ..PLAIN
    },
    Case {
        discipline: "fq_codel",
        about: "100 packets",
        recording: "fq_codel-exact-limit",
        parameters: &[("ecn", 0), ("limit", 100)],
        source: FQ_CODEL_EXACT_LIMIT,
        undo: true,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "red",
        about: "gentle",
        recording: "red",
        parameters: RED_PARAMETERS,
        source: RED,
        traces: &[Overload, Ramp],
        equal: false,
        ..PLAIN
    },
    Case {
        discipline: "red",
        about: "gentle",
        recording: "red-paper",
        parameters: RED_PARAMETERS,
        source: RED,
        undo: true,
        traces: &[Overload, Bursts, Ramp],
        ..PLAIN
    },
    Case {
        discipline: "red",
        about: "not gentle, ecn",
        recording: "red-paper-steep",
        parameters: RED_STEEP_PARAMETERS,
        source: RED_STEEP,
        undo: true,
        capable: true,
        ..PLAIN
    },
    Case {
        discipline: "red",
        about: "low thresholds",
        recording: "red-paper-low",
        parameters: &[("s", 1_211_200)],
        source: RED_LOW,
        undo: true,
        traces: &[Overload, Ramp],
        equal: false,
        ..PLAIN
    },
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
        discipline: "fq_codel",
        about: "linux, drops",
        recording: "fq_codel",
        parameters: &[("linux", 1), ("ecn", 0)],
        source: linux("fq_codel", "ecn=0"),
        ..PLAIN
    },
    Case {
        discipline: "fq_codel",
        about: "linux, ecn",
        recording: "fq_codel-ecn",
        parameters: &[("linux", 1)],
        source: linux("fq_codel", "ecn=1"),
        capable: true,
        traces: &[Flows],
        ..PLAIN
    },
    Case {
        discipline: "fq_codel",
        about: "linux, 100 packets",
        recording: "fq_codel-limit",
        parameters: &[("linux", 1), ("ecn", 0), ("limit", 100)],
        source: linux("fq_codel", "ecn=0 limit=100"),
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "pi2",
        about: "drops",
        recording: "pi2",
        parameters: &[GAINS[0], GAINS[1], ("p_cmax", 1_000_000)],
        source: PI2,
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "Classic traffic",
        recording: "dualpi2-classic",
        parameters: &[GAINS[0], GAINS[1], ("min_th", NEVER), ("tshift", NEVER)],
        source: DUALPI2,
        traces: &[Overload, Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "the rounding of the gains adds up",
        recording: "dualpi2-classic",
        parameters: &[GAINS[0], GAINS[1], ("min_th", NEVER), ("tshift", NEVER)],
        source: DUALPI2,
        traces: &[Ramp],
        equal: false,
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "L4S and Classic traffic",
        recording: "dualpi2",
        parameters: &[GAINS[0], GAINS[1], ("min_th", NEVER), ("tshift", NEVER)],
        source: DUALPI2,
        capable: true,
        traces: &[Bursts, Ramp, Flows],
        ..PLAIN
    },
    Case {
        discipline: "dualpi2",
        about: "the rounding of the gains adds up",
        recording: "dualpi2",
        parameters: &[GAINS[0], GAINS[1], ("min_th", NEVER), ("tshift", NEVER)],
        source: DUALPI2,
        capable: true,
        traces: &[Overload],
        equal: false,
        ..PLAIN
    },
];

impl Case {
    /// The name of a trace's file of signals.
    pub fn file(&self, trace: Trace) -> String {
        format!("{}-{}-{}.txt", self.source.name(), self.recording, trace.name())
    }

    /// What is to be run: the program of the second source and its arguments.
    pub fn job(&self) -> String {
        match self.source {
            Source::Ns3 { disc, attributes } => {
                let undo = if self.undo { "undo" } else { "as-is" };
                format!("ns3 {disc} {SEED} {undo} {attributes}")
            }
            Source::Linux { qdisc, options } => format!("linux-{qdisc} {SEED} {options}"),
        }
    }
}

impl Source {
    /// As in the names of files.
    pub fn name(self) -> &'static str {
        match self {
            Source::Ns3 { .. } => "ns3",
            Source::Linux { .. } => "linux",
        }
    }
}
