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
#include <tna.p4>
#include "common/ingress.p4"
#include "aqm/codel_act.p4"

struct egress_headers_t {
    bridge_h    bridge;
    codel_act_h sync;
    ethernet_h  ethernet;
}

struct egress_metadata_t {
    codel_act_t codel_act;
}

parser EgressParser(
        packet_in packet,
        out egress_headers_t hdr,
        out egress_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        transition select(packet.lookahead<bit<8>>()) {
            KIND_DATA: parse_data;
            default: parse_sync;
        }
    }
    state parse_data {
        packet.extract(hdr.bridge);
        packet.extract(hdr.ethernet);
        transition accept;
    }
    state parse_sync {
        packet.extract(hdr.sync);
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

// Each flag in a container of its own. A container is written in one stage: if the two shared one, so
// would the registers that they come from, and the compiler would put these into two.
@pa_solitary("egress", "codel_act_is_dropping")
@pa_solitary("egress", "codel_act_was_dropping")
control Egress(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {

    CodelAct() codel_act;

    apply {
        codel_act.apply(hdr.sync, md.codel_act, hdr.bridge.arrival, eg_prsr_md.global_tstamp,
                        eg_intr_md, eg_dprsr_md);
    }
}

control EgressDeparser(
        packet_out packet,
        inout egress_headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
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

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
