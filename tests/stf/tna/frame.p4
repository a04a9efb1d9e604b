// What the TNA test programs here share: one header, and an egress that changes nothing.
#ifndef TEST_FRAME_P4
#define TEST_FRAME_P4

#include <core.p4>
#include <tna.p4>

header frame_h {
    bit<8>  kind;
    bit<16> key;
    bit<8>  note;
}

struct headers_t { frame_h frame; }
struct metadata_t { MirrorId_t session; }

parser EgressParser(packet_in packet, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        packet.extract(hdr.frame);
        transition accept;
    }
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply { packet.emit(hdr.frame); }
}

#endif
