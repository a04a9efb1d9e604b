//! RED with ns-3's dice.

use super::{Bursts, Case, Ecn, Flows, Overload, PLAIN, Ramp, Source, ns3};

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
const RED_ECN: Source = ns3(
    "RedQueueDisc",
    "MaxSize=100000p MinTh=20 MaxTh=60 LInterm=10 QW=0.02 Gentle=true Wait=false Ns1Compat=true \
     MeanPktSize=1514 LinkBandwidth=10Mbps UseEcn=true UseHardDrop=true",
);
/// 20 and 60 full packets in bytes.
const RED_BYTES: Source = ns3(
    "RedQueueDisc",
    "MaxSize=100000000B MinTh=30280 MaxTh=90840 LInterm=10 QW=0.02 Gentle=true Wait=false \
     Ns1Compat=true MeanPktSize=1514 LinkBandwidth=10Mbps UseEcn=true UseHardDrop=true",
);
const RED_BYTES_LOW: Source = ns3(
    "RedQueueDisc",
    "MaxSize=100000000B MinTh=7570 MaxTh=22710 LInterm=50 QW=0.002 Gentle=true Wait=false \
     Ns1Compat=true MeanPktSize=1514 LinkBandwidth=10Mbps",
);
/// ns-3 divides the bytes since the last drop by a packet's as whole numbers, so a packet is one byte here and
/// max_p that of a byte: 1 / (10 * 1514).
const RED_SIZES: Source = ns3(
    "RedQueueDisc",
    "MaxSize=100000000B MinTh=30280 MaxTh=90840 LInterm=15140 QW=0.02 Gentle=false Wait=false \
     Ns1Compat=true MeanPktSize=1 LinkBandwidth=10Mbps UseEcn=true UseHardDrop=true",
);

/// RED's parameters other than `gentle`; `s` is the transmission time of a full packet.
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
const RED_ECN_PARAMETERS: &[(&str, u64)] = &[
    ("min_th", 20),
    ("max_th", 60),
    ("max_p", 100_000),
    ("w_q", 20_000),
    ("s", 1_211_200),
    ("ecn", 1),
];
const RED_BYTES_PARAMETERS: &[(&str, u64)] = &[
    ("min_th", 20),
    ("max_th", 60),
    ("max_p", 100_000),
    ("w_q", 20_000),
    ("s", 1_211_200),
    ("ecn", 1),
    ("bytes", 1),
];
/// A byte takes 800 ns.
const RED_SIZES_PARAMETERS: &[(&str, u64)] = &[
    ("min_th", 20),
    ("max_th", 60),
    ("max_p", 100_000),
    ("w_q", 20_000),
    ("s", 800),
    ("ecn", 1),
    ("bytes", 1),
    ("gentle", 0),
];

pub const CASES: &[Case] = &[
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
        ecn: Ecn::Mixed,
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
        ..PLAIN
    },
    Case {
        discipline: "red",
        about: "gentle, ecn",
        recording: "red-paper-ecn",
        parameters: RED_ECN_PARAMETERS,
        source: RED_ECN,
        undo: true,
        ecn: Ecn::Mixed,
        traces: &[Overload, Bursts],
        ..PLAIN
    },
    Case {
        discipline: "red",
        about: "bytes, gentle",
        recording: "red-paper-bytes",
        parameters: RED_BYTES_PARAMETERS,
        source: RED_BYTES,
        undo: true,
        ecn: Ecn::Mixed,
        traces: &[Overload, Ramp],
        ..PLAIN
    },
    Case {
        discipline: "red",
        about: "bytes, low thresholds",
        recording: "red-paper-bytes-low",
        parameters: &[("s", 1_211_200), ("bytes", 1)],
        source: RED_BYTES_LOW,
        undo: true,
        traces: &[Overload, Ramp],
        ..PLAIN
    },
    Case {
        discipline: "red",
        about: "bytes, not gentle",
        recording: "red-paper-sizes",
        parameters: RED_SIZES_PARAMETERS,
        source: RED_SIZES,
        undo: true,
        ecn: Ecn::Mixed,
        traces: &[Bursts, Flows],
        ..PLAIN
    },
];
