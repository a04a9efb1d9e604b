// What only watches a packet does not change it: log_msg, assert, assume, digest.
#include "frame.p4"

struct news_t { bit<16> key; bit<8> note; }

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 9;
        log_msg("a packet");
        log_msg("its key is {}", { hdr.frame.key });
        assert(hdr.frame.isValid());
        assume(hdr.frame.kind != 0);
        digest<news_t>(1, { hdr.frame.key, hdr.frame.note });
    }
}

V1Switch(FrameParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), FrameDeparser()) main;
