// A router with RED (aqm/red.p4) in egress: 1 stage of ingress, 6 of egress.
//
//   common/l3_ingress.p4 -> queue -> bridge header off -> Red -> port
//
// Control plane: red.toml has the routes and the time constant of the average. The egress port
// needs a shaper if it is to be slower than its line.
#include <core.p4>
#include "common/chip.p4"
#include "common/l3_ingress.p4"
#include "aqm/red.p4"

struct egress_metadata_t {}

#include "common/egress.p4"

control Egress(EGRESS_PARAMETERS) {

    Red() red;

    apply {
        red.apply(eg_intr_md, eg_dprsr_md);
    }
}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {
    apply {
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
    }
}

#include "common/switch.p4"
