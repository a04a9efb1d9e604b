//! CoDel and FQ-CoDel, as their RFCs have them and as Linux has them.

use super::{Bursts, Case, Ecn, Flows, PLAIN, Source, linux, ns3};

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
const FQ_CODEL_EXACT_CE: Source =
    ns3("FqCoDelQueueDisc", "MaxSize=10240p Target=2560ms Interval=51200ms CeThreshold=1536ms");
const FQ_CODEL_EXACT_LIMIT: Source =
    ns3("FqCoDelQueueDisc", "MaxSize=100p UseEcn=false Target=2560ms Interval=51200ms");

pub const CASES: &[Case] = &[
    Case {
        discipline: "codel",
        about: "drops",
        recording: "codel",
        source: CODEL,
        equal: false,
        ..PLAIN
    },
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
        ecn: Ecn::Mixed,
        ..PLAIN
    },
    Case {
        discipline: "codel_linux",
        about: "drops",
        recording: "codel",
        parameters: &[("limit", 100_000)],
        source: CODEL,
        ..PLAIN
    },
    Case {
        discipline: "codel_linux",
        about: "drops",
        recording: "codel",
        source: linux("codel", ""),
        ..PLAIN
    },
    Case {
        discipline: "codel_linux",
        about: "ecn",
        recording: "codel-ecn",
        parameters: &[("ecn", 1)],
        source: linux("codel", "ecn=1"),
        ecn: Ecn::Mixed,
        ..PLAIN
    },
    Case {
        discipline: "codel_linux",
        about: "ce_threshold",
        recording: "codel-ce",
        parameters: &[("ce_threshold", 20_000_000)],
        source: linux("codel", "ce_threshold=20000000"),
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "codel_linux",
        about: "ecn, ce_threshold, 30 packets",
        recording: "codel-ecn-ce",
        parameters: &[("ecn", 1), ("ce_threshold", 1_000_000), ("limit", 30)],
        source: linux("codel", "ecn=1 ce_threshold=1000000 limit=30"),
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
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
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
    Case {
        discipline: "fq_codel",
        about: "ce_threshold",
        recording: "fq_codel-exact-ce",
        parameters: &[("ce_threshold", 3_000_000)],
        source: FQ_CODEL_EXACT_CE,
        undo: true,
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
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
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
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
        discipline: "fq_codel",
        about: "linux, ce_threshold",
        recording: "fq_codel-ce",
        parameters: &[("linux", 1), ("ce_threshold", 3_000_000)],
        source: linux("fq_codel", "ecn=1 ce_threshold=3000000"),
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
];
