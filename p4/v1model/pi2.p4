// A router with PI2 (aqm/pi2.p4): drops before the queue, with the square of a controlled probability.
//
//   common/router.p4 -> Pi2 -> queue -> QueueReport -> port
//                        ^                   |
//         recirculation  +--- port 68 <------+ mirror session 100, each T_UPDATE
//
// Control plane: pi2.toml has the routes and the mirror session.
#include <core.p4>
#include <v1model.p4>

#include "aqm/pi2.p4"

struct metadata_t {
    queue_report_t report;
}

#include "common/router.p4"

control SwitchIngress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        Router.apply(hdr, standard_metadata);
        Pi2.apply(md.report, standard_metadata);
    }
}

control SwitchEgress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        QueueReport.apply(md.report, standard_metadata);
#ifdef QUEUE_MEASUREMENT
        QueueMeasurement.apply(hdr.tcp, hdr.queue_delay, standard_metadata);
#endif
    }
}

V1Switch(RouterParser(), RouterVerify(), SwitchIngress(), SwitchEgress(), RouterUpdate(),
         RouterDeparser()) main;
