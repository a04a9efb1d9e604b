//! Device tables: the tables that every Tofino has, limited to the features of this switch.
//!
//! The module holds their part of the document, with the names of the vendor's driver and its ids for
//! Tofino 1. Tofino 2 has other prefixes, sizes and a few more columns (`CHANGES`, `NEW`); their ids
//! are this server's.
//! `write/` and `read.rs` implement their meaning.

mod buffer;
mod nodes;

pub use buffer::FACTORS;

use serde_json::{Value, json};
use sojourn_target::target::DeviceTables;

/// Kind of a fixed table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// `$mirror.cfg`: mirror sessions.
    Mirror,
    /// `$pre.mgid`: multicast groups.
    Group,
    /// `$pre.node`: nodes of groups.
    Node,
    /// `$pre.port`: replication engine settings of each port.
    ReplicationPort,
    /// `$PORT`: ports.
    Port,
    /// `$PORT_STAT`: port statistics.
    PortStatistics,
    /// `tm.port.cfg`: locations of their queues.
    PortConfig,
    /// `tm.port.sched_shaping`: rates of ports.
    PortShaping,
    /// `tm.port.sched_cfg`: whether ports are shaped.
    PortScheduling,
    /// `tm.queue.map`: ports of queues.
    QueueMap,
    /// `tm.queue.sched_shaping`: rates of queues.
    QueueShaping,
    /// `tm.queue.sched_cfg`: whether queues are shaped.
    QueueScheduling,
    /// `tm.queue.buffer`: cells of queues.
    QueueBuffer,
    /// `tm.pool.cfg`: cells of pools.
    PoolConfig,
    /// `tm.counter.queue`: occupancy and drops of queues.
    QueueCounter,
    /// `tm.counter.pool`: occupancy of pools.
    PoolCounter,
    /// `pktgen.port_cfg`: ports that recirculate, generate packets, or trigger generation.
    GeneratorPort,
    /// `pktgen.app_cfg`: applications of packet generators.
    Application,
    /// `pktgen.pkt_buffer`: packets to generate.
    GeneratorBuffer,
    /// `snapshot.phv`: contents of a stage's containers.
    SnapshotContainers,
    /// `dev.device_configuration`: properties of the chip.
    Device,
    /// `tm.pipe.sched_cfg`: whether programs may pause queues.
    PipeScheduling,
    /// `tm.pipe.cfg`: the queue of deflected packets, and the depths that queues report.
    PipeConfig,
    /// `tm.queue.cfg`: the queues that report their depths.
    QueueConfig,
    /// `tm.queue.color`: limits of queues for packets of a colour.
    QueueColor,
    /// `tm.l1_node.sched_cfg`: scheduler nodes between queues and ports.
    NodeScheduling,
    /// `tm.l1_node.sched_shaping`: their rates.
    NodeShaping,
    /// `tm.cfg`: the packet buffer.
    Buffer,
}

/// Ids of the fields, table by table.
pub mod field {
    #![allow(missing_docs)]
    pub const SESSION_ENABLE: u32 = 5;
    pub const DIRECTION: u32 = 6;
    pub const EGRESS_PORT: u32 = 7;
    pub const EGRESS_PORT_VALID: u32 = 8;
    pub const EGRESS_QUEUE: u32 = 9;
    pub const GROUP_A: u32 = 14;
    pub const GROUP_A_VALID: u32 = 15;
    pub const GROUP_B_VALID: u32 = 17;
    pub const COPY_TO_CPU: u32 = 22;
    pub const MAX_LENGTH: u32 = 23;

    pub const NODES: u32 = 1;
    pub const NODE_XIDS_VALID: u32 = 2;
    pub const NODE_XIDS: u32 = 3;
    pub const ECMPS: u32 = 4;
    pub const ECMP_XIDS_VALID: u32 = 5;
    pub const ECMP_XIDS: u32 = 6;

    pub const NODE_RID: u32 = 1;
    pub const NODE_LAGS: u32 = 2;
    pub const NODE_PORTS: u32 = 3;

    pub const BACKUP_PORT: u32 = 1;
    pub const FORWARDS: u32 = 2;
    pub const CLEAR_FAILOVER: u32 = 3;
    pub const TO_CPU: u32 = 4;

    pub const SPEED: u32 = 1;
    pub const FEC: u32 = 2;
    pub const PORT_ENABLE: u32 = 4;
    pub const LOOPBACK: u32 = 6;
    pub const PORT_VALID: u32 = 21;
    pub const PORT_UP: u32 = 25;

    pub const FRAMES_RECEIVED: [u32; 2] = [1, 2];
    pub const OCTETS_RECEIVED: [u32; 2] = [5, 6];
    pub const FRAMES_SENT: [u32; 2] = [33, 34];
    pub const OCTETS_SENT: [u32; 2] = [36, 37];

    pub const PORT_GROUP: u32 = 1;
    pub const PLACE_IN_GROUP: u32 = 2;
    pub const QUEUES: u32 = 3;
    pub const INGRESS_QUEUES: u32 = 4;
    pub const EGRESS_QUEUES: u32 = 5;

    pub const UNIT: u32 = 1;
    pub const PROVISIONING: u32 = 2;
    pub const PORT_RATE: u32 = 3;
    pub const PORT_BURST: u32 = 4;
    pub const PORT_SHAPED: u32 = 1;

    pub const MAP_PORT: u32 = 1;
    pub const MAP_QUEUE: u32 = 2;

    pub const QUEUE_MIN_RATE: u32 = 3;
    pub const QUEUE_RATE: u32 = 5;
    pub const QUEUE_BURST: u32 = 6;
    pub const QUEUE_MIN_PRIORITY: u32 = 1;
    pub const QUEUE_GUARANTEED: u32 = 2;
    pub const QUEUE_WEIGHT: u32 = 3;
    pub const QUEUE_PRIORITY: u32 = 4;
    pub const QUEUE_SHAPED: u32 = 5;
    pub const QUEUE_SCHEDULED: u32 = 6;

    pub const FLOW_CONTROL: u32 = 7;
    pub const FLOW_CONTROL_ENABLE: u32 = 1;
    pub const DROPS_GROUP: u32 = 1;
    pub const DROPS_QUEUE: u32 = 2;
    pub const DROPS_PORT: u32 = 3;
    pub const DROPS_PORT_QUEUE: u32 = 4;
    pub const QUEUE_NODE: u32 = 8;
    pub const NODES_COUNT: u32 = 2;
    pub const PORT_NODES: u32 = 3;
    pub const IN_USE: u32 = 1;
    pub const FREE: u32 = 2;
    pub const CHILDREN_COUNT: u32 = 1;
    pub const CHILDREN: u32 = 2;
    pub const PROPAGATION: u32 = 3;
    pub const NODE_WEIGHT: u32 = 4;
    pub const NODE_MIN_PRIORITY: u32 = 5;
    pub const NODE_GUARANTEED: u32 = 6;
    pub const NODE_PRIORITY: u32 = 7;
    pub const NODE_SHAPED: u32 = 8;
    pub const NODE_PORT: u32 = 9;
    pub const NODE_SCHEDULED: u32 = 10;
    pub const FREE_PORT: u32 = 11;
    pub const NODE_MIN_RATE: u32 = 2;
    pub const NODE_MIN_BURST: u32 = 3;
    pub const NODE_RATE: u32 = 4;
    pub const NODE_BURST: u32 = 5;
    pub const COLOR_DROPS: u32 = 1;
    pub const YELLOW_LIMIT: u32 = 2;
    pub const RED_LIMIT: u32 = 3;
    pub const CELL_BYTES: u32 = 2;
    pub const BUFFER_CELLS: u32 = 3;
    pub const DROPS_ENABLE: u32 = 7;
    pub const REPORT_MODE: u32 = 8;
    pub const REPORTS: u32 = 1;

    pub const POOL_SIZE: u32 = 1;
    pub const POOL_USAGE: u32 = 1;
    pub const POOL_WATERMARK: u32 = 2;

    pub const GUARANTEED_CELLS: u32 = 1;
    pub const HYSTERESIS: u32 = 2;
    pub const TAIL_DROP: u32 = 3;
    pub const POOL: u32 = 4;
    pub const POOL_MOST: u32 = 5;
    pub const POOL_FACTOR: u32 = 6;
    pub const SHARED_POOL: u32 = 1;
    pub const BUFFER_ONLY: u32 = 2;

    pub const DROPPED: u32 = 1;
    pub const USAGE: u32 = 2;
    pub const WATERMARK: u32 = 3;

    pub const RECIRCULATES: u32 = 1;
    pub const GENERATES: u32 = 2;
    pub const MATCHES: u32 = 3;
    pub const CLEAR_DOWN: u32 = 4;

    pub const ONCE: u32 = 1;
    pub const EVERY: u32 = 2;
    pub const PORT_DOWN: u32 = 3;
    pub const BY_PATTERN: u32 = 4;
    pub const TIMER: u32 = 1;
    pub const PATTERN: u32 = 4;
    pub const PATTERN_MASK: u32 = 5;
    pub const APP_ENABLE: u32 = 12;
    pub const PACKET_LENGTH: u32 = 13;
    pub const PACKET_OFFSET: u32 = 14;
    pub const SOURCE_PORT: u32 = 15;
    pub const INCREMENT: u32 = 16;
    pub const BATCHES: u32 = 17;
    pub const PACKETS: u32 = 18;
    pub const BATCH_GAP: u32 = 19;
    pub const BATCH_JITTER: u32 = 20;
    pub const PACKET_GAP: u32 = 21;
    pub const PACKET_JITTER: u32 = 22;
    pub const BATCHES_MADE: u32 = 23;
    pub const PACKETS_MADE: u32 = 24;
    pub const TRIGGERED: u32 = 25;

    pub const BUFFER: u32 = 1;

    pub const SKU: u32 = 1;
    pub const PIPES: u32 = 2;
    pub const STAGES: u32 = 3;
    pub const PORTS: u32 = 4;
    pub const FRONT_PORTS: u32 = 5;
    pub const PCIE_PORT: u32 = 6;
    pub const CPU_PORTS: u32 = 7;
    pub const INTERNAL_PORTS: u32 = 8;
    pub const EXTERNAL_PORTS: u32 = 9;
    pub const RECIRCULATION_PORTS: u32 = 10;
}

/// A column: id, name, and type: `!` in front marks a read-only one, `[]` behind a repeated one.
type Column = (u32, &'static str, &'static str);

struct TableSpec {
    what: Fixed,
    /// The chip's generation is put behind a leading `tf`.
    name: &'static str,
    id: u32,
    kind: &'static str,
    size: u32,
    keys: &'static [Column],
    data: &'static [Column],
    /// Its actions, each with data of its own.
    actions: &'static [(u32, &'static str, &'static [Column])],
}

/// Number of containers visible to match-action units.
const CONTAINERS: u32 = 224;

const SPEEDS: &str = "NONE 1G 10G 25G 40G 50G 100G";
const FASTER: &str = "NONE 1G 10G 25G 40G 50G 100G 200G 400G";

/// Modes of forward error correction; the last two are short names.
const ERROR_CORRECTIONS: &str = "BF_FEC_TYP_NONE BF_FEC_TYP_FIRECODE BF_FEC_TYP_REED_SOLOMON \
     BF_FEC_TYP_FC BF_FEC_TYP_RS";

/// Loopback modes: the place at which a port returns its packets.
const LOOPBACKS: &str = "BF_LPBK_NONE BF_LPBK_MAC_NEAR BF_LPBK_MAC_FAR BF_LPBK_PCS_NEAR \
     BF_LPBK_SERDES_NEAR BF_LPBK_SERDES_FAR BF_LPBK_PIPE";

/// Parts of the first and of the second chip.
const FIRST_PARTS: &str = "!UNKNOWN BFN-T10-064Q BFN-T10-032Q BFN-T10-032D";
const SECOND_PARTS: &str =
    "!UNKNOWN BFN-T20-128Q BFN-T20-128QM BFN-T20-080T BFN-T20-080TM BFN-T20-064Q BFN-T20-064D";

/// Difference of a table of Tofino 2: its size, and columns that it has besides.
type Change = (Fixed, u32, &'static [Column]);

const CHANGES: [Change; 12] = [
    (
        Fixed::Mirror,
        256,
        &[
            (24, "$epipe_cfg_flag", "bool"),
            (25, "$hash_cfg_flag", "bool"),
            (26, "$icos_cfg_flag", "bool"),
            (27, "$mc_cfg_flag", "bool"),
            (28, "$c2c_cfg_flag", "bool"),
            (29, "$dod_cfg_flag", "bool"),
            (30, "$session_priority", "uint32"),
        ],
    ),
    (Fixed::QueueMap, 4608, &[]),
    (Fixed::QueueShaping, 4608, &[]),
    (
        Fixed::QueueScheduling,
        4608,
        &[
            (field::FLOW_CONTROL, "advanced_flow_control", "CREDIT XOFF"),
            (field::QUEUE_NODE, "pg_l1_node", "uint8"),
            (9, "scheduling_speed", FASTER),
        ],
    ),
    (Fixed::QueueBuffer, 4608, &[]),
    (Fixed::QueueColor, 4608, &[]),
    (Fixed::QueueCounter, 1152, &[]),
    (
        Fixed::PipeConfig,
        4,
        &[
            (field::DROPS_ENABLE, "mirror_drop_enable", "bool"),
            (field::REPORT_MODE, "queue_depth_report_mode", "ANY COLOR"),
        ],
    ),
    (
        Fixed::PortScheduling,
        288,
        &[
            (field::NODES_COUNT, "l1_nodes_count", "!uint8"),
            (field::PORT_NODES, "l1_nodes", "!uint8[]"),
        ],
    ),
    (Fixed::Application, 16, &[]),
    (Fixed::SnapshotContainers, 20, &[]),
    (Fixed::Port, 288, &[]),
];

/// Tables that only Tofino 2 has, as far as they mean something here.
const NEW: [TableSpec; 2] = [
    TableSpec {
        what: Fixed::PipeScheduling,
        name: "tf.tm.pipe.sched_cfg",
        id: 4_278_517_842,
        kind: "TmPipeSchedCfg",
        size: 1,
        keys: &[],
        data: &[(field::FLOW_CONTROL_ENABLE, "advanced_flow_control_enable", "bool")],
        actions: &[],
    },
    TableSpec {
        what: Fixed::QueueConfig,
        name: "tf.tm.queue.cfg",
        id: 4_278_517_793,
        kind: "TmQueueCfg",
        size: 4608,
        keys: &[(1, "pg_id", "uint8"), (2, "pg_queue", "uint8")],
        data: &[(field::REPORTS, "depth_report_enable", "bool")],
        actions: &[],
    },
];

const TABLES: [TableSpec; 18] = [
    TableSpec {
        what: Fixed::Mirror,
        name: "$mirror.cfg",
        id: 4_278_452_225,
        kind: "MirrorCfg",
        size: 1024,
        keys: &[(1, "$sid", "uint16")],
        data: &[
            (field::SESSION_ENABLE, "$session_enable", "bool"),
            (field::DIRECTION, "$direction", "INGRESS EGRESS BOTH"),
            (field::EGRESS_PORT, "$ucast_egress_port", "uint32"),
            (field::EGRESS_PORT_VALID, "$ucast_egress_port_valid", "bool"),
            (field::EGRESS_QUEUE, "$egress_port_queue", "uint32"),
            (10, "$ingress_cos", "uint32"),
            (11, "$packet_color", "GREEN YELLOW RED"),
            (12, "$level1_mcast_hash", "uint32"),
            (13, "$level2_mcast_hash", "uint32"),
            (field::GROUP_A, "$mcast_grp_a", "uint16"),
            (field::GROUP_A_VALID, "$mcast_grp_a_valid", "bool"),
            (16, "$mcast_grp_b", "uint16"),
            (field::GROUP_B_VALID, "$mcast_grp_b_valid", "bool"),
            (18, "$mcast_l1_xid", "uint16"),
            (19, "$mcast_l2_xid", "uint16"),
            (20, "$mcast_rid", "uint16"),
            (21, "$icos_for_copy_to_cpu", "uint32"),
            (field::COPY_TO_CPU, "$copy_to_cpu", "bool"),
            (field::MAX_LENGTH, "$max_pkt_len", "uint16"),
        ],
        actions: &[(2, "$normal", &[])],
    },
    TableSpec {
        what: Fixed::Group,
        name: "$pre.mgid",
        id: 4_278_321_153,
        kind: "PreMgid",
        size: 65_536,
        keys: &[(1, "$MGID", "uint16")],
        data: &[
            (field::NODES, "$MULTICAST_NODE_ID", "uint32[]"),
            (field::NODE_XIDS_VALID, "$MULTICAST_NODE_L1_XID_VALID", "bool[]"),
            (field::NODE_XIDS, "$MULTICAST_NODE_L1_XID", "uint16[]"),
            (field::ECMPS, "$MULTICAST_ECMP_ID", "uint32[]"),
            (field::ECMP_XIDS_VALID, "$MULTICAST_ECMP_L1_XID_VALID", "bool[]"),
            (field::ECMP_XIDS, "$MULTICAST_ECMP_L1_XID", "uint16[]"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::Node,
        name: "$pre.node",
        id: 4_278_321_154,
        kind: "PreNode",
        size: 16_777_216,
        keys: &[(1, "$MULTICAST_NODE_ID", "uint32")],
        data: &[
            (field::NODE_RID, "$MULTICAST_RID", "uint16"),
            (field::NODE_LAGS, "$MULTICAST_LAG_ID", "uint8[]"),
            (field::NODE_PORTS, "$DEV_PORT", "uint32[]"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::ReplicationPort,
        name: "$pre.port",
        id: 4_278_321_158,
        kind: "PrePort",
        size: 288,
        keys: &[(1, "$DEV_PORT", "uint32")],
        data: &[
            (field::BACKUP_PORT, "$MULTICAST_BACKUP_PORT", "uint32"),
            (field::FORWARDS, "$MULTICAST_FORWARD_STATE", "bool"),
            (field::CLEAR_FAILOVER, "$MULTICAST_CLEAR_FAST_FAILOVER", "bool"),
            (field::TO_CPU, "$COPY_TO_CPU_PORT_ENABLE", "bool"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::Port,
        name: "$PORT",
        id: 4_278_255_617,
        kind: "PortConfigure",
        size: 256,
        keys: &[(1, "$DEV_PORT", "uint32")],
        data: &[
            (field::SPEED, "$SPEED", SPEEDS),
            (field::FEC, "$FEC", ERROR_CORRECTIONS),
            (3, "$N_LANES", "uint32"),
            (field::PORT_ENABLE, "$PORT_ENABLE", "bool"),
            (5, "$AUTO_NEGOTIATION", "PM_AN_DEFAULT PM_AN_FORCE_ENABLE PM_AN_FORCE_DISABLE"),
            (field::LOOPBACK, "$LOOPBACK_MODE", LOOPBACKS),
            (7, "$TX_MTU", "uint32"),
            (8, "$RX_MTU", "uint32"),
            (field::PORT_VALID, "$IS_VALID", "!bool"),
            (field::PORT_UP, "$PORT_UP", "!bool"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::PortStatistics,
        name: "$PORT_STAT",
        id: 4_278_255_618,
        kind: "PortStat",
        size: 256,
        keys: &[(1, "$DEV_PORT", "uint32")],
        data: &[
            (field::FRAMES_RECEIVED[0], "$FramesReceivedOK", "!uint64"),
            (field::FRAMES_RECEIVED[1], "$FramesReceivedAll", "!uint64"),
            (field::OCTETS_RECEIVED[0], "$OctetsReceivedinGoodFrames", "!uint64"),
            (field::OCTETS_RECEIVED[1], "$OctetsReceived", "!uint64"),
            (field::FRAMES_SENT[0], "$FramesTransmittedOK", "!uint64"),
            (field::FRAMES_SENT[1], "$FramesTransmittedAll", "!uint64"),
            (field::OCTETS_SENT[0], "$OctetsTransmittedwithouterror", "!uint64"),
            (field::OCTETS_SENT[1], "$OctetsTransmittedTotal", "!uint64"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::PortConfig,
        name: "tf.tm.port.cfg",
        id: 4_278_517_776,
        kind: "TmPortCfg",
        size: 288,
        keys: &[(1, "dev_port", "uint32")],
        data: &[
            (field::PORT_GROUP, "pg_id", "!uint8"),
            (field::PLACE_IN_GROUP, "pg_port_nr", "!uint8"),
            (field::QUEUES, "port_queues_count", "!uint8"),
            (field::INGRESS_QUEUES, "ingress_qid_map", "!uint8[]"),
            (field::EGRESS_QUEUES, "egress_qid_queues", "!uint8[]"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::PortShaping,
        name: "tf.tm.port.sched_shaping",
        id: 4_278_517_783,
        kind: "TmPortSchedShaping",
        size: 288,
        keys: &[(1, "dev_port", "uint32")],
        data: &[
            (field::UNIT, "unit", "PPS BPS"),
            (field::PROVISIONING, "provisioning", "UPPER LOWER MIN_ERROR"),
            (field::PORT_RATE, "max_rate", "uint32"),
            (field::PORT_BURST, "max_burst_size", "uint32"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::PortScheduling,
        name: "tf.tm.port.sched_cfg",
        id: 4_278_517_782,
        kind: "TmPortSchedCfg",
        size: 288,
        keys: &[(1, "dev_port", "uint32")],
        data: &[(field::PORT_SHAPED, "max_rate_enable", "bool")],
        actions: &[],
    },
    TableSpec {
        what: Fixed::QueueMap,
        name: "tf.tm.queue.map",
        id: 4_278_517_794,
        kind: "TmQueueMap",
        size: 2304,
        keys: &[(1, "pg_id", "uint8"), (2, "pg_queue", "uint8")],
        data: &[(field::MAP_PORT, "dev_port", "!uint32"), (field::MAP_QUEUE, "queue_nr", "!uint8")],
        actions: &[],
    },
    TableSpec {
        what: Fixed::QueueShaping,
        name: "tf.tm.queue.sched_shaping",
        id: 4_278_517_798,
        kind: "TmQueueSchedShaping",
        size: 2304,
        keys: &[(1, "pg_id", "uint8"), (2, "pg_queue", "uint8")],
        data: &[
            (field::UNIT, "unit", "PPS BPS"),
            (field::PROVISIONING, "provisioning", "UPPER LOWER MIN_ERROR"),
            (field::QUEUE_MIN_RATE, "min_rate", "uint32"),
            (4, "min_burst_size", "uint32"),
            (field::QUEUE_RATE, "max_rate", "uint32"),
            (field::QUEUE_BURST, "max_burst_size", "uint32"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::QueueScheduling,
        name: "tf.tm.queue.sched_cfg",
        id: 4_278_517_797,
        kind: "TmQueueSchedCfg",
        size: 2304,
        keys: &[(1, "pg_id", "uint8"), (2, "pg_queue", "uint8")],
        data: &[
            (2, "min_rate_enable", "bool"),
            (1, "min_priority", "LOW 0 1 2 3 4 5 6 7 HIGH"),
            (field::QUEUE_SHAPED, "max_rate_enable", "bool"),
            (4, "max_priority", "LOW 0 1 2 3 4 5 6 7 HIGH"),
            (3, "dwrr_weight", "uint16"),
            (field::QUEUE_SCHEDULED, "scheduling_enable", "bool"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::QueueCounter,
        name: "tf.tm.counter.queue",
        id: 4_278_517_827,
        kind: "TmCounterQueue",
        size: 576,
        keys: &[(1, "pg_id", "uint8"), (2, "pg_queue", "uint8")],
        data: &[
            (field::DROPPED, "drop_count_packets", "!uint64"),
            (field::USAGE, "usage_cells", "!uint64"),
            (field::WATERMARK, "watermark_cells", "!uint64"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::GeneratorPort,
        name: "tf.pktgen.port_cfg",
        id: 4_278_386_689,
        kind: "PktgenPortCfg",
        size: 256,
        keys: &[(1, "dev_port", "uint32")],
        data: &[
            (field::RECIRCULATES, "recirculation_enable", "bool"),
            (field::GENERATES, "pktgen_enable", "bool"),
            (field::MATCHES, "pattern_matching_enable", "bool"),
            (field::CLEAR_DOWN, "clear_port_down_enable", "bool"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::Application,
        name: "tf.pktgen.app_cfg",
        id: 4_278_386_690,
        kind: "PktgenAppCfg",
        size: 8,
        keys: &[(1, "app_id", "uint32")],
        data: &[
            (field::APP_ENABLE, "app_enable", "bool"),
            (field::PACKET_LENGTH, "pkt_len", "uint16"),
            (field::PACKET_OFFSET, "pkt_buffer_offset", "uint16"),
            (field::SOURCE_PORT, "pipe_local_source_port", "uint32"),
            (field::INCREMENT, "increment_source_port", "bool"),
            (field::BATCHES, "batch_count_cfg", "uint16"),
            (field::PACKETS, "packets_per_batch_cfg", "uint16"),
            (field::BATCH_GAP, "ibg", "uint32"),
            (field::BATCH_JITTER, "ibg_jitter", "uint32"),
            (field::PACKET_GAP, "ipg", "uint32"),
            (field::PACKET_JITTER, "ipg_jitter", "uint32"),
            (field::BATCHES_MADE, "batch_counter", "uint64"),
            (field::PACKETS_MADE, "pkt_counter", "uint64"),
            (field::TRIGGERED, "trigger_counter", "uint64"),
        ],
        actions: &[
            (field::ONCE, "trigger_timer_one_shot", &[(field::TIMER, "timer_nanosec", "uint32")]),
            (field::EVERY, "trigger_timer_periodic", &[(field::TIMER, "timer_nanosec", "uint32")]),
            (field::PORT_DOWN, "trigger_port_down", &[]),
            (
                field::BY_PATTERN,
                "trigger_recirc_pattern",
                &[
                    (field::PATTERN, "pattern_value", "uint32"),
                    (field::PATTERN_MASK, "pattern_mask", "uint32"),
                ],
            ),
        ],
    },
    TableSpec {
        what: Fixed::GeneratorBuffer,
        name: "tf.pktgen.pkt_buffer",
        id: 4_278_386_691,
        kind: "PktgenPktBufferCfg",
        size: 1024,
        keys: &[(1, "pkt_buffer_offset", "uint32"), (2, "pkt_buffer_size", "uint32")],
        data: &[(field::BUFFER, "buffer", "byte[]")],
        actions: &[],
    },
    TableSpec {
        what: Fixed::SnapshotContainers,
        name: "tf.snapshot.phv",
        id: 4_278_648_833,
        kind: "SnapshotPhv",
        size: 12,
        keys: &[(0, "stage", "uint32")],
        data: &[],
        actions: &[],
    },
    TableSpec {
        what: Fixed::Device,
        name: "tf.dev.device_configuration",
        id: 4_278_583_297,
        kind: "DevConfigure",
        size: 1,
        keys: &[],
        data: &[
            (field::SKU, "sku", FIRST_PARTS),
            (field::PIPES, "num_pipes", "!uint32"),
            (field::STAGES, "num_stages", "!uint32"),
            (field::PORTS, "num_max_ports", "!uint32"),
            (field::FRONT_PORTS, "num_front_ports", "!uint32"),
            (field::PCIE_PORT, "pcie_cpu_port", "!uint32"),
            (field::CPU_PORTS, "eth_cpu_port_list", "!uint32[]"),
            (field::INTERNAL_PORTS, "internal_port_list", "!uint32[]"),
            (field::EXTERNAL_PORTS, "external_port_list", "!uint32[]"),
            (field::RECIRCULATION_PORTS, "recirc_port_list", "!uint32[]"),
            (12, "flow_learn_intr_mode", "bool"),
            (13, "lrt_dr_timeout_usec", "uint32"),
            (14, "flow_learn_timeout_usec", "uint32"),
            (15, "inactive_node_delete", "bool"),
            (16, "selector_member_order", "bool"),
        ],
        actions: &[],
    },
];

/// Each table's part of a chip's document, with its kind.
pub fn tables(of: &DeviceTables) -> impl Iterator<Item = (Value, Fixed)> {
    let new: [&[TableSpec]; 2] =
        if of.generation > 1 { [&NEW, &nodes::TABLES] } else { [&[], &[]] };
    let new = new.into_iter().flatten();
    TABLES.iter().chain(&buffer::TABLES).chain(new).map(move |table| (made(table, of), table.what))
}

/// Ids of the tables of all chips.
pub fn numbers() -> impl Iterator<Item = u32> {
    let new = NEW.iter().chain(&nodes::TABLES);
    TABLES.iter().chain(&buffer::TABLES).chain(new).map(|table| table.id)
}

/// The document of a chip's tables.
pub fn document(of: &DeviceTables) -> Value {
    let tables: Vec<Value> = tables(of).map(|(table, _)| table).collect();
    json!({ "schema_version": "1.0.0", "tables": tables, "learn_filters": [] })
}

fn made(table: &TableSpec, of: &DeviceTables) -> Value {
    let second = of.generation > 1;
    let change = CHANGES.iter().find(|(what, ..)| second && *what == table.what);
    let (size, more) = change.map_or((table.size, &[][..]), |(_, size, more)| (*size, *more));
    let size = if table.what == Fixed::SnapshotContainers { of.stages } else { size };
    let keys = table.keys.iter().map(|column| {
        let mut key = named(column);
        key["mandatory"] = true.into();
        key["match_type"] = "Exact".into();
        key
    });
    let data = table.data.iter().chain(more).map(|&(id, name, ty)| {
        let ty = match (second, ty) {
            (true, SPEEDS) => FASTER,
            (true, FIRST_PARTS) => SECOND_PARTS,
            (_, ty) => ty,
        };
        let read_only = ty.starts_with('!');
        json!({ "mandatory": false, "read_only": read_only, "singleton": named(&(id, name, ty)) })
    });
    let containers = match table.what {
        Fixed::SnapshotContainers => 0..CONTAINERS,
        _ => 0..0,
    };
    let containers = containers.map(|number| {
        let container = named(&(number, &format!("phv{number}"), "uint32"));
        json!({ "mandatory": false, "read_only": true, "singleton": container })
    });
    let data = data.chain(containers);
    let mut made = json!({
        "name": table.name.replacen("tf.", &format!("tf{}.", of.generation), 1),
        "id": table.id,
        "table_type": table.kind,
        "size": size,
        "annotations": [],
        "depends_on": [],
        "key": keys.collect::<Vec<_>>(),
        "data": data.collect::<Vec<_>>(),
        "supported_operations": [],
        "attributes": [],
    });
    if !table.actions.is_empty() {
        let action = |(id, name, data): &(u32, &str, &[Column])| {
            let data = data.iter().map(|&(id, name, ty)| {
                // The second chip compares 16 bytes with a pattern.
                let wide = second && matches!(id, field::PATTERN | field::PATTERN_MASK);
                let mut datum = named(&(id, name, if wide { "bytes16" } else { ty }));
                datum["mandatory"] = false.into();
                datum["read_only"] = false.into();
                datum
            });
            json!({ "id": id, "name": name, "data": data.collect::<Vec<_>>() })
        };
        made["action_specs"] = table.actions.iter().map(action).collect();
    }
    made
}

fn named((id, name, ty): &(u32, &str, &str)) -> Value {
    let ty = ty.trim_start_matches('!');
    let (ty, repeated) = ty.strip_suffix("[]").map_or((ty, false), |ty| (ty, true));
    let of = match ty {
        "bool" | "uint8" | "uint16" | "uint32" | "uint64" => json!({ "type": ty }),
        "byte" => json!({ "type": "bytes", "width": 8 }),
        "bytes16" => json!({ "type": "bytes", "width": 128 }),
        SPEEDS | FASTER => {
            let choices: Vec<String> = ty.split(' ').map(|s| format!("BF_SPEED_{s}")).collect();
            json!({ "type": "string", "choices": choices })
        }
        choices => {
            json!({ "type": "string", "choices": choices.split(' ').collect::<Vec<_>>() })
        }
    };
    json!({ "id": id, "name": name, "repeated": repeated, "annotations": [], "type": of })
}
