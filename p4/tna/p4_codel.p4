// A switch with P4-CoDel (aqm/p4_codel.p4) in egress: 1 stage of ingress, 6 of egress.
//
//   common/ingress.p4 -> queue of the egress port -> take the bridge header off -> P4Codel -> port
//
// Control plane: p4_codel.toml fills Ingress.forward. The egress port needs a shaper; without one
// no queue stands in this switch.
#include <core.p4>
#include "common/chip.p4"
#include "common/ingress.p4"
#include "aqm/p4_codel.p4"

struct egress_metadata_t {}

#include "common/egress.p4"

control Egress(EGRESS_PARAMETERS) {

    P4Codel() codel;

    apply {
        codel.apply(hdr.bridge.arrival, eg_prsr_md.global_tstamp, eg_intr_md.egress_port, eg_dprsr_md);
    }
}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {
    apply {
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
    }
}

#include "common/switch.p4"
