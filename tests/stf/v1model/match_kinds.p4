// A table of each match kind, and one with entries in the program; the action notes which was hit.
#include "frame.p4"

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    action note(bit<8> value) { hdr.frame.note = value; }
    action miss() { hdr.frame.note = 0xff; }

    table by_value {
        key = { hdr.frame.key : exact; hdr.frame.isValid() : exact; }
        actions = { note; miss; }
        default_action = miss();
    }
    table by_mask {
        key = { hdr.frame.key : ternary; }
        actions = { note; miss; }
        default_action = miss();
    }
    table by_prefix {
        key = { hdr.frame.key : lpm; }
        actions = { note; miss; }
        default_action = miss();
    }
    table by_range {
        key = { hdr.frame.key : range; }
        actions = { note; miss; }
        default_action = miss();
    }
    table by_choice {
        key = { hdr.frame.key : optional; hdr.frame.note : exact; }
        actions = { note; miss; }
        default_action = miss();
    }
    table fixed {
        key = { hdr.frame.key : ternary; hdr.frame.note : range; }
        actions = { note; miss; }
        default_action = miss();
        const entries = {
            (0x1200 &&& 0xff00, 1 .. 9) : note(1);
            (0x1234, _)                 : note(2);
            (_, 5)                      : note(3);
        }
    }
    table slices {
        key = { hdr.frame.key[11:4] : exact @name("middle"); }
        actions = { note; miss; }
        default_action = miss();
    }

    apply {
        standard_metadata.egress_spec = 9;
        if (hdr.frame.kind == 1) { by_value.apply(); }
        else if (hdr.frame.kind == 2) { by_mask.apply(); }
        else if (hdr.frame.kind == 3) { by_prefix.apply(); }
        else if (hdr.frame.kind == 4) { by_range.apply(); }
        else if (hdr.frame.kind == 5) { by_choice.apply(); }
        else if (hdr.frame.kind == 6) { fixed.apply(); }
        else { slices.apply(); }
    }
}

V1Switch(FrameParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), FrameDeparser()) main;
