// A router with CoDel-ACT (aqm/codel_act.p4): the Tofino program's split state, on bmv2.
//
//   common/router.p4 -> queue -> CodelAct -> port
//                                    |
//         egress of port 68: CodelAct <-- mirror session 100
//
// Control plane: codel_act.toml has the routes and the mirror session.
#include <core.p4>
#include <v1model.p4>

#include "aqm/codel_act.p4"

struct metadata_t {
    codel_act_t codel_act;
}

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
        CodelAct.apply(md.codel_act, standard_metadata);
#ifdef QUEUE_MEASUREMENT
        QueueMeasurement.apply(hdr.tcp, hdr.queue_delay, standard_metadata);
#endif
    }
}

V1Switch(RouterParser(), RouterVerify(), SwitchIngress(), SwitchEgress(), RouterUpdate(),
         RouterDeparser()) main;
