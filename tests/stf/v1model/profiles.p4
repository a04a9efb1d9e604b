// Tables whose entries lead to members of an action profile, or to groups of an action selector.
#include "frame.p4"

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    action note(bit<8> value) { hdr.frame.note = value; }
    action miss() { hdr.frame.note = 0xff; }
    action_profile(16) shared;
    action_selector(HashAlgorithm.crc16, 16, 14) spread;

    table first {
        key = { hdr.frame.key : exact; }
        actions = { note; miss; }
        default_action = miss();
        implementation = shared;
    }
    table grouped {
        key = { hdr.frame.kind : exact; hdr.frame.key : selector; }
        actions = { note; miss; }
        default_action = miss();
        implementation = spread;
    }

    apply {
        standard_metadata.egress_spec = 9;
        if (hdr.frame.kind == 1) { first.apply(); }
        else { grouped.apply(); }
    }
}

V1Switch(FrameParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), FrameDeparser()) main;
