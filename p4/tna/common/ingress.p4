// Ingress of the programs of this folder: a wire that notes the time.
//
//   Ethernet -> forward (by ingress port) -> bridge header with the time of arrival -> queue
//
// The queueing delay is known in egress only, as a difference of two readings of the one clock that
// both passes share (TNA p. 74). The reading of ingress has to travel with the packet.
#ifndef COMMON_INGRESS_P4
#define COMMON_INGRESS_P4

#include "headers.p4"

// Set in front of each packet by the ingress deparser, taken off by the egress parser. 7 bytes.
header bridge_h {
    bit<8>  kind;                   // KIND_DATA
    bit<48> arrival;                // ns, global_tstamp of the ingress parser
}

struct ingress_headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
}

struct ingress_metadata_t {}

parser IngressParser(
        packet_in packet,
        out ingress_headers_t hdr,
        out ingress_metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Ingress(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {

    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // Filled by the control plane: where packets of each port go. All of them use queue 0.
    table forward {
        key = { ig_intr_md.ingress_port : exact; }
        actions = { send; drop; }
        const default_action = drop();
        size = 512;
    }

    apply {
        // Stage 0: the table and the bridge header touch different fields.
        forward.apply();
        hdr.bridge.setValid();
        hdr.bridge.kind = KIND_DATA;
        hdr.bridge.arrival = ig_prsr_md.global_tstamp;
    }
}

control IngressDeparser(
        packet_out packet,
        inout ingress_headers_t hdr,
        in ingress_metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        packet.emit(hdr.bridge);
        packet.emit(hdr.ethernet);
    }
}

#endif
