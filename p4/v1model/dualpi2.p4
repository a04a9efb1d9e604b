// A router with DualPI2 (aqm/dualpi2.p4): two queues by the ECN field, marks and drops behind them.
//
//   common/router.p4 -> DualPi2Classifier -> queue 1, L4S -----+-> DualPi2 -> port
//                                         -> queue 0, Classic -+
//
// Control plane: dualpi2.toml has the routes and the queues, of which bmv2 serves the L4S one first.
#include <core.p4>
#include <v1model.p4>

#include "aqm/dualpi2.p4"

struct metadata_t {
    bit<16> number;         // the packet's in its queue
}

#include "common/router.p4"

control SwitchIngress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        Router.apply(hdr, standard_metadata);
        if (hdr.ipv4.isValid()) {
            DualPi2Classifier.apply(hdr.ipv4.ecn, md.number, standard_metadata);
        }
    }
}

control SwitchEgress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {

    bit<40> one;
    bit<40> other;
    bool mark;

    apply {
        if (hdr.ipv4.isValid()) {
            random(one, 0, DUALPI2_ONE - 1);
            random(other, 0, DUALPI2_ONE - 1);
            DualPi2.apply(hdr.ipv4.ecn, md.number, one, other, mark, standard_metadata);
            if (mark && hdr.ipv4.ecn != 0) {
                hdr.ipv4.ecn = 3;
            }
        }
#ifdef QUEUE_MEASUREMENT
        QueueMeasurement.apply(hdr.tcp, hdr.queue_delay, standard_metadata);
#endif
    }
}

V1Switch(RouterParser(), RouterVerify(), SwitchIngress(), SwitchEgress(), RouterUpdate(),
         RouterDeparser()) main;
