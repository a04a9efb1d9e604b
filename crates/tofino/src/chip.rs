//! Descriptions of the chips of the Tofino family, as data.
//!
//! A program's package selects its chip. Code that differs between chips reads a number of
//! [`Chip`] and never compares names. Sources are the open-source compiler's device
//! specifications, the driver's defaults and the vendor's public documents; `docs/tofino2.md`
//! lists what is an assumption. This file must not depend on programs or packets.

use sojourn_packet::{Bytes, PacketGenerator, SchedulerNodes, ShaperRegisters};
use sojourn_target::target::TrafficManager;
use std::ops::RangeInclusive;

/// A chip.
#[derive(Debug, PartialEq, Eq)]
pub struct Chip {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in messages.
    pub title: &'static str,
    /// Its full name in reports.
    pub full_name: &'static str,
    /// The folder of its programs below `p4/`.
    pub folder: &'static str,
    /// The file with its declarations.
    pub declarations: &'static str,
    /// The architecture that its packages state.
    pub architecture: &'static str,
    /// The packages that a program's `main` can be of.
    pub packages: &'static [&'static str],
    /// Macros that its compiler defines.
    pub macros: &'static [(&'static str, &'static str)],
    /// Match-action stages.
    pub stages: u32,
    /// Constants that an instruction word holds in addition to two containers.
    pub small_constants: RangeInclusive<i128>,
    /// True if a table of which an action exits can be asked for its hit.
    pub hit_beside_exit: bool,
    /// A deparser may have mirrors that are constructed for a type beside others, which ingress has.
    pub mixed_mirrors: bool,
    /// Bytes that the egress parser takes on every path at least, and at most.
    pub egress_parse_depth: RangeInclusive<u64>,
    /// Capabilities of a stateful ALU.
    pub stateful_alu: StatefulAlu,
    /// Requests to deparser and traffic manager have valid bits of their own, apart from those of headers.
    pub shared_validity: bool,
    /// Bit 0 of `drop_ctl` also cancels a resubmit.
    pub drop_cancels_resubmit: bool,
    /// Metadata in front of packets.
    pub front: Front,
    /// A pipeline may have a ghost thread, which takes reports of queue depths.
    pub ghost: bool,
    /// The mask of a parser's counter is given as its bits; otherwise as the number of low bits less
    /// one.
    pub counter_mask_in_bits: bool,
    /// Pipes.
    pub pipes: u16,
    /// Ports of a pipe; a port's number is that of its pipe, then that in the pipe.
    pub pipe_ports: u16,
    /// Queues of each port.
    pub queues: u8,
    /// Ports of the first pipe that recirculate; in other pipes all that can generate do. Tofino 2
    /// has 0 to 7 for that, of which 0 to 5 belong to the processor in one pipe; the simulation uses 6
    /// and 7 of that.
    pub recirculation: RangeInclusive<u16>,
    /// Number in the names of the tables that control planes see of it.
    pub table_generation: u8,
    /// Queues of a port group for each of its ports, where each port has as many.
    pub port_queues: u16,
    /// Ports of a pipe that the processor can have over Ethernet, and the one over its bus.
    pub processor: (RangeInclusive<u16>, u16),
    /// Its packet generator.
    pub packet_generator: PacketGenerator,
    /// Its traffic manager.
    pub traffic_manager: TrafficManager,
}

/// A stateful ALU, as far as chips differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatefulAlu {
    /// Comparisons of an action.
    pub comparisons: usize,
    /// Words that an action puts out.
    pub outputs: usize,
    /// Bits of the widest entry of packets.
    pub widest: u32,
    /// Constants of a comparison that need no row of the register file.
    pub compared_constants: Immediates,
    /// Bits of a row beyond those of the register's words.
    pub spare_row_bits: u32,
    /// Comparisons can look at some bits of their words.
    pub masks: bool,
    /// It divides.
    pub division: bool,
}

/// Numbers that a field of an instruction holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Immediates {
    /// The least one.
    pub least: i8,
    /// The largest one.
    pub most: i8,
}

impl Immediates {
    /// True for a number among them.
    pub fn contains(self, value: &i128) -> bool {
        (self.least.into()..=self.most.into()).contains(value)
    }
}

/// Widths and sizes of the chip's own headers and fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front {
    /// Bytes of port metadata behind the 8 bytes of ingress metadata.
    pub port_metadata: usize,
    /// Bytes that a resubmitted packet has in their place.
    pub resubmit_data: usize,
    /// Bytes in front of a packet in the egress parser.
    pub egress: usize,
    /// Bits of `enq_tstamp` and `deq_timedelta`.
    pub queue_time_bits: u32,
    /// Bits of `mirror_type`.
    pub mirror_type_bits: u32,
    /// Ports of a port group, by whose queues `egress_qid` counts.
    pub group_ports: u16,
    /// Queues of a group for each of its ports, in the order of the ports; 0 where `egress_qid`
    /// counts by the queues of the port.
    pub group_queues: u16,
    /// Bits of `egress_qid`.
    pub queue_bits: u32,
}

/// Bytes of intrinsic metadata in front of a packet in the ingress parser.
pub const INGRESS_INTRINSIC_BYTES: usize = 8;

impl Front {
    /// Bytes in front of a packet in the ingress and in the egress parser.
    pub const fn bytes(&self) -> [usize; 2] {
        [INGRESS_INTRINSIC_BYTES + self.port_metadata, self.egress]
    }

    /// `egress_qid` of a queue of a port.
    #[inline]
    pub fn egress_queue(&self, port: u16, queue: u8) -> u64 {
        let first = port % self.group_ports * self.group_queues;
        u64::from(first + u16::from(queue)) & ((1 << self.queue_bits) - 1)
    }
}

/// Ports of a pipe of both chips.
const PIPE_PORTS: u16 = 128;

/// Tofino 1.
pub const TOFINO1: Chip = Chip {
    name: "tofino1",
    title: "Tofino",
    full_name: "Tofino 1",
    folder: "tna",
    declarations: "tna.p4",
    architecture: "TNA",
    packages: &["Switch", "MultiParserSwitch"],
    macros: &[("__TARGET_TOFINO__", "1")],
    stages: 12,
    small_constants: -8..=7,
    hit_beside_exit: false,
    mixed_mirrors: false,
    egress_parse_depth: 65..=160,
    stateful_alu: StatefulAlu {
        comparisons: 2,
        outputs: 1,
        widest: 32,
        compared_constants: Immediates { least: -8, most: 7 },
        spare_row_bits: 0,
        masks: false,
        division: false,
    },
    shared_validity: false,
    drop_cancels_resubmit: false,
    front: Front {
        port_metadata: 8,
        resubmit_data: 8,
        egress: 27,
        queue_time_bits: 18,
        mirror_type_bits: 3,
        group_ports: 4,
        group_queues: 0,
        queue_bits: 5,
    },
    ghost: false,
    counter_mask_in_bits: false,
    pipes: 4,
    pipe_ports: PIPE_PORTS,
    queues: 32,
    recirculation: 68..=71,
    table_generation: 1,
    port_queues: 8,
    processor: (64..=67, 320),
    packet_generator: PacketGenerator {
        application_bits: 3,
        buffer: 16 * 1024,
        ports: (68, 71),
        default_port: 68,
        pipe_ports: PIPE_PORTS,
        shortest: 11,
        pattern_bytes: 4,
        repeats_pattern: false,
    },
    traffic_manager: TrafficManager {
        cell: Bytes(80),
        cells: 100 * 1024,
        mirror_sessions: (1, 1015),
        shapers: ShaperRegisters {
            clock: 1_220_000_000,
            rate_bits: 10,
            burst_bits: 4,
            shortened_to_nearest: false,
        },
        nodes: None,
    },
};

/// Tofino 2 with all its stages.
pub const TOFINO2: Chip = Chip {
    name: "tofino2",
    title: "Tofino 2",
    full_name: "Tofino 2",
    folder: "t2na",
    declarations: "t2na.p4",
    architecture: "T2NA",
    packages: &["Switch"],
    macros: &[("__TARGET_TOFINO__", "2")],
    stages: 20,
    small_constants: -4..=7,
    hit_beside_exit: true,
    mixed_mirrors: true,
    egress_parse_depth: 0..=u64::MAX,
    stateful_alu: StatefulAlu {
        comparisons: 4,
        outputs: 4,
        widest: 128,
        compared_constants: Immediates { least: -32, most: 31 },
        spare_row_bits: 2,
        masks: true,
        division: true,
    },
    shared_validity: true,
    drop_cancels_resubmit: true,
    front: Front {
        port_metadata: 24,
        resubmit_data: 16,
        egress: 28,
        queue_time_bits: 32,
        mirror_type_bits: 4,
        group_ports: 8,
        group_queues: 16,
        queue_bits: 7,
    },
    ghost: true,
    counter_mask_in_bits: true,
    pipes: 4,
    pipe_ports: PIPE_PORTS,
    queues: 32,
    recirculation: 6..=7,
    table_generation: 2,
    port_queues: 16,
    processor: (2..=5, 0),
    packet_generator: PacketGenerator {
        application_bits: 4,
        buffer: 16 * 1024,
        ports: (0, 7),
        default_port: 6,
        pipe_ports: PIPE_PORTS,
        shortest: 59,
        pattern_bytes: 16,
        repeats_pattern: true,
    },
    traffic_manager: TrafficManager {
        cell: Bytes(176),
        cells: 256_000,
        mirror_sessions: (1, 239),
        shapers: ShaperRegisters {
            clock: 1_000_000_000,
            rate_bits: 12,
            burst_bits: 8,
            shortened_to_nearest: true,
        },
        nodes: Some(SchedulerNodes { group_ports: 8, count: 32 }),
    },
};

/// The parts of Tofino 2 with 12 stages.
pub const TOFINO2M: Chip = Chip { name: "tofino2m", full_name: "Tofino 2M", stages: 12, ..TOFINO2 };

/// All chips, each by its own name.
pub const ALL: [&Chip; 3] = [&TOFINO1, &TOFINO2, &TOFINO2M];
