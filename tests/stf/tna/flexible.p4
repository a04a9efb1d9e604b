// A bridged header whose fields fill no whole bytes, which the compiler may lay out as it likes: what
// lies behind it stays whole.
#include "frame.p4"

header bridged_h {
    bit<8> kind;
    @flexible bit<1> flag;
    @flexible bit<10> number;
}

struct bridged_headers_t { bridged_h bridged; frame_h frame; }

parser IngressParser(packet_in packet, out bridged_headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.frame);
        transition accept;
    }
}

control Ingress(inout bridged_headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        hdr.bridged.setValid();
        hdr.bridged.kind = 1;
        hdr.bridged.flag = 1;
        hdr.bridged.number = hdr.frame.key[9:0];
        ig_tm_md.ucast_egress_port = 9;
    }
}

control IngressDeparser(packet_out packet, inout bridged_headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply { packet.emit(hdr); }
}

parser BridgedParser(packet_in packet, out bridged_headers_t hdr, out metadata_t md,
                     out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        packet.extract(hdr.bridged);
        packet.extract(hdr.frame);
        transition accept;
    }
}

control Egress(inout bridged_headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        if (hdr.bridged.flag == 1) {
            hdr.frame.note = hdr.bridged.number[7:0];
        }
        hdr.bridged.setInvalid();
    }
}

control BridgedDeparser(packet_out packet, inout bridged_headers_t hdr, in metadata_t md,
                        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply { packet.emit(hdr); }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), BridgedParser(), Egress(),
         BridgedDeparser()) pipe;
Switch(pipe) main;
