//! Tables of the packet buffer: pools, the cells of queues, the queue of deflected packets.
//!
//! Names and ids are those of the vendor's driver.

use super::{Fixed, TableSpec, field};

/// Pools of the chip: those of ingress and egress applications, and others in `tm.pool.cfg`.
const POOLS: &str = "IG_APP_POOL_0 IG_APP_POOL_1 IG_APP_POOL_2 IG_APP_POOL_3 EG_APP_POOL_0 \
                     EG_APP_POOL_1 EG_APP_POOL_2 EG_APP_POOL_3 IG_SKID_POOL \
                     IG_EG_NEGATIVE_MIRROR_POOL EG_PRE_FIFO IG_EG_GUARANTEED_MIN \
                     EG_UNICAST_CUT_THROUGH EG_MULTICAST_CUT_THROUGH";
const APPLICATION_POOLS: &str = "IG_APP_POOL_0 IG_APP_POOL_1 IG_APP_POOL_2 IG_APP_POOL_3 \
                                 EG_APP_POOL_0 EG_APP_POOL_1 EG_APP_POOL_2 EG_APP_POOL_3";
const EGRESS_POOLS: &str = "EG_APP_POOL_0 EG_APP_POOL_1 EG_APP_POOL_2 EG_APP_POOL_3";

/// Burst absorption factors of queues, with the multiple of the pool's free cells in millionths.
///
/// A percentage is the share of its pool that a lone queue takes, `alpha / (1 + alpha)`. The driver
/// of Tofino 2 refuses 80% for pools of 128 * 1024 cells or more and 66% from 256 * 1024: four and
/// two times that size exceed its 19-bit cell count.
pub const FACTORS: [(&str, u32); 9] = [
    ("1.5%", 15_625),
    ("3%", 31_250),
    ("6%", 62_500),
    ("11%", 125_000),
    ("20%", 250_000),
    ("33%", 500_000),
    ("50%", 1_000_000),
    ("66%", 2_000_000),
    ("80%", 4_000_000),
];

/// Limits of a queue for packets of a colour, as shares of the queue's own limit.
const LIMITS: &str = "12.5% 25% 37.5% 50% 62.5% 75% 87.5% 100%";

pub(super) const TABLES: [TableSpec; 5] = [
    TableSpec {
        what: Fixed::QueueColor,
        name: "tf.tm.queue.color",
        id: 4_278_517_795,
        kind: "TmQueueColor",
        size: 2304,
        keys: &[(1, "pg_id", "uint8"), (2, "pg_queue", "uint8")],
        data: &[
            (field::COLOR_DROPS, "drop_enable", "bool"),
            (field::YELLOW_LIMIT, "drop_limit_yellow", LIMITS),
            (field::RED_LIMIT, "drop_limit_red", LIMITS),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::PoolConfig,
        name: "tf.tm.pool.cfg",
        id: 4_278_517_762,
        kind: "TmPoolCfg",
        size: 14,
        keys: &[(1, "pool", POOLS)],
        data: &[(field::POOL_SIZE, "size_cells", "uint32")],
        actions: &[],
    },
    TableSpec {
        what: Fixed::QueueBuffer,
        name: "tf.tm.queue.buffer",
        id: 4_278_517_796,
        kind: "TmQueueBuffer",
        size: 2304,
        keys: &[(1, "pg_id", "uint8"), (2, "pg_queue", "uint8")],
        data: &[
            (field::GUARANTEED_CELLS, "guaranteed_cells", "uint32"),
            (field::HYSTERESIS, "hysteresis_cells", "uint32"),
            (field::TAIL_DROP, "tail_drop_enable", "bool"),
        ],
        actions: &[
            (
                field::SHARED_POOL,
                "shared_pool",
                &[
                    (field::POOL, "pool_id", EGRESS_POOLS),
                    (field::POOL_MOST, "pool_max_cells", "uint32"),
                    (
                        field::POOL_FACTOR,
                        "dynamic_baf",
                        "1.5% 3% 6% 11% 20% 33% 50% 66% 80% DISABLE",
                    ),
                ],
            ),
            (field::BUFFER_ONLY, "buffer_only", &[]),
        ],
    },
    TableSpec {
        what: Fixed::PoolCounter,
        name: "tf.tm.counter.pool",
        id: 4_278_517_828,
        kind: "TmCounterPool",
        size: 8,
        keys: &[(1, "pool", APPLICATION_POOLS)],
        data: &[
            (field::POOL_USAGE, "usage_cells", "!uint64"),
            (field::POOL_WATERMARK, "watermark_cells", "!uint64"),
        ],
        actions: &[],
    },
    TableSpec {
        what: Fixed::PipeConfig,
        name: "tf.tm.pipe.cfg",
        id: 4_278_517_840,
        kind: "TmPipeCfg",
        size: 4,
        keys: &[],
        data: &[
            (field::DROPS_GROUP, "mirror_drop_pg_id", "uint8"),
            (field::DROPS_QUEUE, "mirror_drop_pg_queue", "uint8"),
            (field::DROPS_PORT, "mirror_drop_dev_port", "!uint32"),
            (field::DROPS_PORT_QUEUE, "mirror_drop_queue_nr", "!uint8"),
        ],
        actions: &[],
    },
];
