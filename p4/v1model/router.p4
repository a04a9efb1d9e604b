// A router and nothing else: packets wait in their queues until there is no room, as behind any switch.
//
//   common/router.p4 -> queue -> port
//
// The other programs of this folder are this one with a queue management. It is also what they are
// compared with: tail drop.
//
// Control plane: router.toml has the routes.
#include <core.p4>
#include <v1model.p4>


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
#ifdef QUEUE_MEASUREMENT
        QueueMeasurement.apply(hdr.tcp, hdr.queue_delay, standard_metadata);
#endif
    }
}

V1Switch(RouterParser(), RouterVerify(), SwitchIngress(), SwitchEgress(), RouterUpdate(),
         RouterDeparser()) main;
