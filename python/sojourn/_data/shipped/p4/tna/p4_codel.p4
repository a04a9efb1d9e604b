// A switch with P4-CoDel (aqm/p4_codel.p4) in egress: 1 stage of ingress, 6 of egress.
//
//   common/ingress.p4 -> queue of the egress port -> take the bridge header off -> P4Codel -> port
//
// Control plane: p4_codel.toml fills Ingress.forward. The egress port needs a shaper; without one
// no queue stands in this switch.
#include <core.p4>
#include <tna.p4>
#include "common/ingress.p4"
#include "aqm/p4_codel.p4"

struct egress_headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
}

struct egress_metadata_t {}

parser EgressParser(
        packet_in packet,
        out egress_headers_t hdr,
        out egress_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        packet.extract(hdr.bridge);
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

    P4Codel() codel;

    apply {
        codel.apply(hdr.bridge.arrival, eg_prsr_md.global_tstamp, eg_intr_md.egress_port, eg_dprsr_md);
    }
}

control EgressDeparser(
        packet_out packet,
        inout egress_headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
