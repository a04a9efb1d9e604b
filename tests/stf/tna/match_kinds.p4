// A table of each match kind; the action writes which entry was hit into the frame.
#include "frame.p4"

parser IngressParser(packet_in packet, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.frame);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action note(bit<8> value) { hdr.frame.note = value; }
    action miss() {}

    table by_value {
        key = { hdr.frame.key : exact; }
        actions = { note; miss; }
        default_action = miss();
        size = 64;
    }
    table by_mask {
        key = { hdr.frame.key : ternary; }
        actions = { note; miss; }
        default_action = miss();
        size = 64;
    }
    table by_prefix {
        key = { hdr.frame.key : lpm; }
        actions = { note; miss; }
        default_action = miss();
        size = 64;
    }
    table by_range {
        key = { hdr.frame.key : range; }
        actions = { note; miss; }
        default_action = miss();
        size = 64;
    }

    apply {
        if (hdr.frame.kind == 1) { by_value.apply(); }
        else if (hdr.frame.kind == 2) { by_mask.apply(); }
        else if (hdr.frame.kind == 3) { by_prefix.apply(); }
        else { by_range.apply(); }
        ig_tm_md.ucast_egress_port = 9;
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply { packet.emit(hdr.frame); }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
