// A router with PIE (aqm/pie.p4): drops before the queue, by a probability that RFC 8033 controls.
//
//   common/router.p4 -> Pie -> queue -> QueueReport -> port
//                        ^                   |
//         recirculation  +--- port 68 <------+ mirror session 100, each T_UPDATE
//
// Control plane: pie.toml has the routes and the mirror session.
#include <core.p4>
#include <v1model.p4>

#include "aqm/pie.p4"

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
        Pie.apply(md.report, standard_metadata);
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
