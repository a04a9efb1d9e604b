// truncate: what leaves is cut, headers and payload alike; the smallest length counts.
#include "frame.p4"

control TestIngress(inout headers_t hdr, inout metadata_t md,
                    inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 9;
        if (hdr.frame.kind == 1) {
            truncate(10);
            truncate(6);
        } else if (hdr.frame.kind == 2) {
            truncate(6);
            truncate(10);
        } else if (hdr.frame.kind == 3 || hdr.frame.kind == 4) {
            truncate((bit<32>)hdr.frame.key);
        }
        // What a program sees of its length stays as it was.
        hdr.frame.note = (bit<8>)standard_metadata.packet_length;
    }
}

control TestEgress(inout headers_t hdr, inout metadata_t md,
                   inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.frame.kind == 4 || hdr.frame.kind == 5) { truncate(5); }
    }
}

V1Switch(FrameParser(), NoVerify(), TestIngress(), TestEgress(), NoUpdate(), FrameDeparser()) main;
