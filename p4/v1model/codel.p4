// A router with CoDel (aqm/codel.p4): RFC 8289 for each queue of each port.
//
//   common/router.p4 -> queue -> Codel -> port
//
// What it adds to router.p4 is an #include and a line in egress.
//
// Control plane: codel.toml has the routes. The control law's entries are the program's own;
// -D CONTROL_LAW_RANGE matches counts by ranges, -D CONTROL_LAW_EXACT computes on from the entries
// (common/control_law.p4). -D CODEL_DROP_NEXT_FROM_NOW: drop_next as the paper has it (aqm/codel.p4).
#include <core.p4>
#include <v1model.p4>

#include "aqm/codel.p4"

struct metadata_t {}

#include "common/router.p4"

control SwitchIngress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        Router.apply(hdr, standard_metadata);
    }
}

control SwitchEgress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        Codel.apply(standard_metadata);
#ifdef QUEUE_MEASUREMENT
        QueueMeasurement.apply(hdr.tcp, hdr.queue_delay, standard_metadata);
#endif
    }
}

V1Switch(RouterParser(), RouterVerify(), SwitchIngress(), SwitchEgress(), RouterUpdate(),
         RouterDeparser()) main;
