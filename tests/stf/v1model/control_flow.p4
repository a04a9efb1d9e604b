// Which way a packet goes: hit and miss, switch on the action that ran, exit, return, sub-controls.
#include "frame.p4"

control Adder(inout bit<8> value)(bit<8> by) {
    apply {
        if (value == 0x70) { return; }
        value = value + by;
    }
}

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    Adder(3) three;
    Adder(5) five;

    action one() { hdr.frame.note = hdr.frame.note + 1; }
    action leave() {
        hdr.frame.note = 0xee;
        exit;
    }
    // p4c takes a table for bmv2 at one place of a program only.
    table found {
        key = { hdr.frame.key : exact; }
        actions = { one; leave; NoAction; }
        default_action = NoAction();
    }
    table choose {
        key = { hdr.frame.key : exact; }
        actions = { one; leave; NoAction; }
        default_action = NoAction();
    }

    apply {
        standard_metadata.egress_spec = 9;
        if (hdr.frame.kind == 1) {
            if (found.apply().hit) { hdr.frame.note = hdr.frame.note + 0x10; }
            else { hdr.frame.note = hdr.frame.note + 0x20; }
        } else if (hdr.frame.kind == 2) {
            switch (choose.apply().action_run) {
                one: { hdr.frame.note = 0x51; }
                NoAction: { hdr.frame.note = 0x52; }
            }
        } else {
            three.apply(hdr.frame.note);
            five.apply(hdr.frame.note);
        }
        hdr.frame.kind = 0;
    }
}

V1Switch(FrameParser(), NoVerify(), TestIngress(), NoEgress(), NoUpdate(), FrameDeparser()) main;
