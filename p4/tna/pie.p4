// A router with PIE (aqm/pie.p4) in egress: 1 stage of ingress, 10 of egress.
//
//   common/l3_ingress.p4 -> queue -> bridge header off -> Pie -> port
//                                                          |
//   egress of port 68: synchronisation header off -> Pie <--- mirror session 100
//
// A synchronisation packet is a cut copy of the packet that updates the probability, one each
// T_UPDATE. It comes through the traffic manager into egress again, writes a register and is
// dropped.
//
// Control plane: pie.toml has the routes and the mirror session. The egress port needs a shaper if
// it is to be slower than its line.
#include <core.p4>
#include "common/chip.p4"
#include "common/l3_ingress.p4"
#include "aqm/pie.p4"

struct egress_metadata_t {
    pie_t pie;
}

#define SYNCHRONISATION_HEADER pie_h
#include "common/egress.p4"

control Egress(EGRESS_PARAMETERS) {

    Pie() pie;

    apply {
        pie.apply(hdr.sync, md.pie, hdr.bridge.arrival, eg_prsr_md.global_tstamp, eg_intr_md,
                  eg_dprsr_md);
    }
}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {
    Mirror(PIE_MIRROR) synchronise;

    apply {
        if (eg_dprsr_md.mirror_type == PIE_MIRROR) {
            synchronise.emit<pie_h>(md.pie.session, { md.pie.kind, md.pie.queue, md.pie.amount });
        }
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
    }
}

#include "common/switch.p4"
