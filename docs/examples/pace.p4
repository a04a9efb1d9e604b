#include <core.p4>
#include <tna.p4>
#include "common/ingress.p4"

#define TARGET 5000000          // ns
#define GAP 100000000           // ns
#ifndef KEEP
#define KEEP 12                 // sixteenths of the gap that a drop leaves
#endif

struct egress_metadata_t {}

#include "common/egress.p4"

struct pace_t {
    bit<32> next;               // ns: no drop before
    bit<32> gap;                // ns from this drop to the next
}

control Egress(EGRESS_PARAMETERS) {
    bit<32> now;                // ns
    bit<32> delay;              // ns in the queue
    bit<32> left;               // ns up to TARGET; 0: nothing
    bit<1> late;
    bit<1> drop;

    // The one thing on the chip that multiplies: a small table behind the ALU.
    MathUnit<bit<32>>(MathOp_t.MUL, KEEP, 16) shorter;
    Register<pace_t, PortId_t>(512, {0, GAP}) pace;
    RegisterAction<pace_t, PortId_t, bit<1>>(pace) drop_if_due = {
        void apply(inout pace_t state, out bit<1> due) {
            due = 0;
            if (late == 0) {
                state.gap = GAP;
            } else if (now > state.next) {
                state.next = now + state.gap;
                state.gap = shorter.execute(state.gap);
                due = 1;
            }
        }
    };

    action drop_packet() {
        eg_dprsr_md.drop_ctl = 1;
    }

    action compute_delay() {
        now = eg_prsr_md.global_tstamp[31:0];
        delay = eg_prsr_md.global_tstamp[31:0] - hdr.bridge.arrival[31:0];
    }

    action compute_left() {
        left = TARGET |-| delay;
    }

    apply {
        compute_delay();
        compute_left();
        if (left == 0) {
            late = 1;
        } else {
            late = 0;
        }
        drop = drop_if_due.execute(eg_intr_md.egress_port);
        if (drop == 1) {
            drop_packet();
        }
    }
}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

#include "common/switch.p4"
