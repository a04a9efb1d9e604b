//! Tests of the metadata that the traffic manager passes to egress.

use super::*;

#[test]
fn egress_reads_the_measurements_of_the_traffic_manager() {
    let input = EgressInput {
        queue: 21,
        cos: 3,
        enqueued: Time(300_000),
        dequeued: Time(350_000),
        enqueue_depth: 1_000,
        dequeue_depth: 2_000,
        enqueue_congestion: 2,
        dequeue_congestion: 3,
        pool_congestion: 0x1b,
        rid: 77,
        rid_first: true,
        deflected: true,
        ..leaving(0x155, 400_000)
    };
    for (expression, expected) in [
        ("e.egress_port", 0x155),
        ("e.egress_qid", 21),
        ("e.egress_cos", 3),
        ("e.enq_tstamp", 300_000 - 262_144),
        ("e.deq_timedelta", 50_000),
        ("e.enq_qdepth", 1_000),
        ("e.deq_qdepth", 2_000),
        ("e.enq_congest_stat", 2),
        ("e.deq_congest_stat", 3),
        ("e.app_pool_congest_stat", 0x1b),
        ("e.egress_rid", 77),
        ("e.egress_rid_first", 1),
        ("e.deflection_flag", 1),
        ("e.pkt_length", 70),
        ("ep.global_tstamp", 400_000),
    ] {
        assert_eq!(observed(input, expression), expected, "{expression}");
    }
}
