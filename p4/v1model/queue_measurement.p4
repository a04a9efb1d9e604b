// A router that writes each packet's queue delay into it (aqm/queue_measurement.p4).
//
//   common/router.p4 -> queue -> QueueMeasurement -> port
//
// The other programs of this folder do the same with -D QUEUE_MEASUREMENT.
//
// Control plane: queue_measurement.toml has the routes.
#include <core.p4>
#include <v1model.p4>

#ifndef QUEUE_MEASUREMENT
#define QUEUE_MEASUREMENT
#endif

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
        QueueMeasurement.apply(hdr.tcp, hdr.queue_delay, standard_metadata);
    }
}

V1Switch(RouterParser(), RouterVerify(), SwitchIngress(), SwitchEgress(), RouterUpdate(),
         RouterDeparser()) main;
