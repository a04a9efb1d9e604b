// A router with RFC 8289's CoDel (aqm/codel_exact.p4) in egress: 1 stage of ingress, 10 of egress.
//
//   common/l3_ingress.p4 -> queue -> bridge header off -> CodelExact -> port
//                                                           |
//   egress of port 68: synchronisation header off -> CodelExact <-- mirror session 100
//
// A synchronisation packet is a cut copy of a packet that was dropped (or marked). It comes through the
// traffic manager into egress again, writes the registers and is dropped.
//
// Control plane: codel_exact.toml has the routes, the mirror session and the entries of the control law.
// The egress port needs a shaper if it is to be slower than its line.
#include <core.p4>
#include <tna.p4>
#include "common/l3_ingress.p4"
#include "aqm/codel_exact.p4"

struct egress_headers_t {
    l3_bridge_h   bridge;
    codel_exact_h sync;
    ethernet_h    ethernet;
}

struct egress_metadata_t {
    codel_exact_t codel;
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

control Egress(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {

    CodelExact() codel;

    apply {
        codel.apply(hdr.sync, md.codel, hdr.bridge.arrival, hdr.bridge.arrival_epoch,
                    eg_prsr_md.global_tstamp, eg_intr_md, eg_dprsr_md);
    }
}

control EgressDeparser(
        packet_out packet,
        inout egress_headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror(CODEL_EXACT_MIRROR) synchronise;

    apply {
        if (eg_dprsr_md.mirror_type == CODEL_EXACT_MIRROR) {
            synchronise.emit<codel_exact_h>(md.codel.session, {
                md.codel.kind, md.codel.queue, md.codel.drop_next, md.codel.count });
        }
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
