//! Tables of Tofino 2 for the scheduler nodes between queues and ports, and for the whole buffer.

use super::{Fixed, TableSpec, field};

const PRIORITIES: &str = "LOW 0 1 2 3 4 5 6 7 HIGH";

pub(super) const TABLES: [TableSpec; 3] = [
    TableSpec {
        what: Fixed::NodeScheduling,
        name: "tf.tm.l1_node.sched_cfg",
        id: 4_278_517_857,
        kind: "TmL1NodeSchedCfg",
        size: 1152,
        keys: &[(1, "pg_id", "uint8"), (2, "pg_l1_node", "uint8")],
        data: &[
            (field::NODE_GUARANTEED, "min_rate_enable", "bool"),
            (field::NODE_MIN_PRIORITY, "min_priority", PRIORITIES),
            (field::NODE_SHAPED, "max_rate_enable", "bool"),
            (field::NODE_PRIORITY, "max_priority", PRIORITIES),
            (field::NODE_WEIGHT, "dwrr_weight", "uint16"),
            (field::PROPAGATION, "priority_propagation", "bool"),
            (field::CHILDREN_COUNT, "queues_count", "!uint8"),
            (field::CHILDREN, "pg_queues", "!uint8[]"),
        ],
        actions: &[
            (
                field::IN_USE,
                "in_use",
                &[
                    (field::NODE_SCHEDULED, "scheduling_enable", "bool"),
                    (field::NODE_PORT, "dev_port", "uint32"),
                ],
            ),
            (field::FREE, "free", &[(field::FREE_PORT, "dev_port", "!uint32")]),
        ],
    },
    TableSpec {
        what: Fixed::NodeShaping,
        name: "tf.tm.l1_node.sched_shaping",
        id: 4_278_517_858,
        kind: "TmL1NodeSchedShaping",
        size: 1152,
        keys: &[(1, "pg_id", "uint8"), (2, "pg_l1_node", "uint8")],
        data: &[
            (field::UNIT, "unit", "PPS BPS"),
            (field::NODE_MIN_RATE, "min_rate", "uint32"),
            (field::NODE_MIN_BURST, "min_burst_size", "uint32"),
            (field::NODE_RATE, "max_rate", "uint32"),
            (field::NODE_BURST, "max_burst_size", "uint32"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::Buffer,
        name: "tf.tm.cfg",
        id: 4_278_517_889,
        kind: "TmCfg",
        size: 1,
        keys: &[],
        data: &[
            (field::CELL_BYTES, "cell_size_bytes", "!uint32"),
            (field::BUFFER_CELLS, "total_cells", "!uint32"),
        ],
        actions: &[],
    },
];
