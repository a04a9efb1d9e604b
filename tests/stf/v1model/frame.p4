// What the v1model test programs here share: a header, a parser that reads it, blocks that do nothing.
//
// A program defines WITH_METADATA if its metadata are not empty.
#ifndef TEST_FRAME_P4
#define TEST_FRAME_P4

#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

header frame_h {
    bit<8>  kind;
    bit<16> key;
    bit<8>  note;
}

struct headers_t { frame_h frame; }

#ifndef WITH_METADATA
struct metadata_t {}
#endif

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t md,
                   inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control NoVerify(inout headers_t hdr, inout metadata_t md) { apply {} }

control NoUpdate(inout headers_t hdr, inout metadata_t md) { apply {} }

control NoEgress(inout headers_t hdr, inout metadata_t md,
                 inout standard_metadata_t standard_metadata) { apply {} }

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.frame); }
}

#endif
