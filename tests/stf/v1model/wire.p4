// The least that forwards: a table says by which port a frame leaves.
#include "frame.p4"

control TestIngress(inout headers_t hdr, inout metadata_t md,
                    inout standard_metadata_t standard_metadata) {
    action send(bit<9> port) { standard_metadata.egress_spec = port; }
    action drop() { mark_to_drop(standard_metadata); }

    table forward {
        key = { standard_metadata.ingress_port : exact; }
        actions = { send; drop; }
        default_action = drop();
    }

    apply { forward.apply(); }
}

V1Switch(FrameParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), FrameDeparser()) main;
