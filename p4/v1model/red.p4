// A router with RED (aqm/red.p4): drops before the queue, by its average length.
//
//   common/router.p4 -> Red -> queue -> RedQueue -> port
//
// Control plane: red.toml has the routes.
#include <core.p4>
#include <v1model.p4>

#include "aqm/red.p4"

struct metadata_t {}

#include "common/router.p4"

control SwitchIngress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        Router.apply(hdr, standard_metadata);
        Red.apply(standard_metadata);
    }
}

control SwitchEgress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        RedQueue.apply(standard_metadata);
#ifdef QUEUE_MEASUREMENT
        QueueMeasurement.apply(hdr.tcp, hdr.queue_delay, standard_metadata);
#endif
    }
}

V1Switch(RouterParser(), RouterVerify(), SwitchIngress(), SwitchEgress(), RouterUpdate(),
         RouterDeparser()) main;
