// A switch with CoDel-ACT (aqm/codel_act.p4) in egress: 1 stage of ingress, 7 of egress.
//
//   common/ingress.p4 -> queue of the egress port -> bridge header off -> CodelAct -> port
//                                                                            |
//        egress of port 68: synchronisation header off -> CodelAct <-- mirror session 100
//
// A synchronisation packet is a cut copy of the data packet that opened or closed a congestion cycle.
// It comes through the traffic manager into egress again, writes its registers and is dropped.
//
// Control plane: codel_act.toml fills Ingress.forward and sets up the mirror session. The egress
// port needs a shaper; without one no queue stands in this switch.
#include <core.p4>
#include "common/chip.p4"
#include "common/ingress.p4"
#include "aqm/codel_act.p4"

struct egress_metadata_t {
    codel_act_t codel_act;
}

#define SYNCHRONISATION_HEADER codel_act_h
#include "common/egress.p4"

// Each flag in a container of its own. A container is written in one stage: if the two shared one, so
// would the registers that they come from, and the compiler would put these into two.
@pa_solitary("egress", "codel_act_is_dropping")
@pa_solitary("egress", "codel_act_was_dropping")
control Egress(EGRESS_PARAMETERS) {

    CodelAct() codel_act;

    apply {
        codel_act.apply(hdr.sync, md.codel_act, hdr.bridge.arrival, eg_prsr_md.global_tstamp,
                        eg_intr_md, eg_dprsr_md);
    }
}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {
    Mirror(CODEL_ACT_MIRROR) synchronise;

    apply {
        if (eg_dprsr_md.mirror_type == CODEL_ACT_MIRROR) {
            synchronise.emit<codel_act_h>(md.codel_act.session, {
                md.codel_act.kind, md.codel_act.queue, md.codel_act.count,
                md.codel_act.drop_next, md.codel_act.last_count });
        }
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
    }
}

#include "common/switch.p4"
