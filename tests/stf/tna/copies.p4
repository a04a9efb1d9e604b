// Copies and ways back: a multicast group, a mirror session in egress, a resubmission, a recirculation.
#include "frame.p4"

const bit<8> KIND_MULTICAST = 1;
const bit<8> KIND_MIRROR = 2;
const bit<8> KIND_RESUBMIT = 3;
const bit<8> KIND_RECIRCULATE = 4;
const bit<8> KIND_DROP = 5;

header again_h { bit<64> value; }
header mirror_h { bit<16> key; bit<8> note; bit<8> kind; }

struct ingress_headers_t { again_h again; frame_h frame; }

parser IngressParser(packet_in packet, out ingress_headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            1: resubmitted;
            default: fresh;
        }
    }
    state resubmitted {
        packet.extract(hdr.again);
        packet.extract(hdr.frame);
        transition accept;
    }
    state fresh {
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.frame);
        transition accept;
    }
}

control Ingress(inout ingress_headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        if (hdr.again.isValid()) {
            hdr.frame.note = 0xcc;
            ig_tm_md.ucast_egress_port = 9;
        } else if (hdr.frame.kind == KIND_MULTICAST) {
            ig_tm_md.mcast_grp_a = hdr.frame.key;
        } else if (hdr.frame.kind == KIND_RESUBMIT) {
            ig_dprsr_md.resubmit_type = 1;
        } else if (hdr.frame.kind == KIND_RECIRCULATE) {
            hdr.frame.kind = 0;
            ig_tm_md.ucast_egress_port = 68;
        } else if (hdr.frame.kind == KIND_DROP) {
            ig_dprsr_md.drop_ctl = 1;
        } else {
            ig_tm_md.ucast_egress_port = 9;
        }
    }
}

control IngressDeparser(packet_out packet, inout ingress_headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Resubmit(1) resubmit;

    apply {
        if (ig_dprsr_md.resubmit_type == 1) {
            resubmit.emit();
        }
        packet.emit(hdr.frame);
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        if (hdr.frame.kind == KIND_MULTICAST) {
            hdr.frame.note = (bit<8>)eg_intr_md.egress_rid;
        } else if (hdr.frame.kind == KIND_MIRROR && eg_intr_md.egress_port == 9) {
            eg_dprsr_md.mirror_type = 1;
            md.session = 5;
        }
    }
}

control MirroringDeparser(packet_out packet, inout headers_t hdr, in metadata_t md,
                          in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror(1) mirror;

    apply {
        if (eg_dprsr_md.mirror_type == 1) {
            mirror.emit<mirror_h>(md.session, { hdr.frame.key, hdr.frame.note, hdr.frame.kind });
        }
        packet.emit(hdr.frame);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), MirroringDeparser()) pipe;
Switch(pipe) main;
