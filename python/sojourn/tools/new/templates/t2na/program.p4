// my_aqm: a queue management for Tofino 2, to begin with.
//
// While packets wait for TARGET or longer, it drops one of them every SPACING. That is all; CoDel
// would shorten the spacing from drop to drop (p4/tna/aqm/codel_exact.p4 of Sojourn).
//
//   stage   0            1              2                   3               4
//           now     ->   remainder ->   late             -> SALU         -> drop
//                        TARGET |-|     remainder == 0      [last_drop]
//                        delay
//
//   state       written              read
//   last_drop   SALU, by each drop   SALU: is the last drop SPACING ago?
//
// The chip measures the delay itself: `deq_timedelta` has 32 bits and wraps after 4.29 s. Ingress,
// the headers and the parsers are Sojourn's (p4/tna/common), which `sojourn` finds by itself.
#include <core.p4>
#include <t2na.p4>
#include "common/ingress.p4"

// Others are had with `-D TARGET=1000000`.
#ifndef TARGET
#define TARGET 5000000          // ns
#endif
#ifndef SPACING
#define SPACING 20000000        // ns
#endif

struct egress_metadata_t {}

#include "common/egress.p4"

control MyAqm(
        in bit<32> delay,           // ns, sojourn time
        in bit<48> departure,       // ns, global_tstamp of egress
        in PortId_t port,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {

    bit<32> now;                    // ns, modulo 2^32
    bit<32> remainder;              // ns, what is left up to TARGET; 0: nothing
    bit<1>  late;                   // delay >= TARGET
    bit<1>  drop;

    // One state for each egress port. A RegisterAction is one instruction of the stateful ALU:
    // what it cannot do, `sojourn check` refuses with the reason (`--explain` has the rules).
    // The clock starts again from 0 every 4.295 s. A difference of signed numbers is right all the
    // same, as long as the times are less than 2.1 s apart.
    Register<int<32>, PortId_t>(512) last_drop;
    RegisterAction<int<32>, PortId_t, bit<1>>(last_drop) drop_if_due = {
        void apply(inout int<32> time, out bit<1> due) {
            due = 0;
            if (late == 1 && (int<32>) now - time > SPACING) {
                time = (int<32>) now;
                due = 1;
            }
        }
    };

    // A comparison with a constant is possible in a gateway only as "== 0"; a saturating
    // subtraction makes it one.
    action compute_remainder() {
        remainder = TARGET |-| delay;
    }

    action drop_packet() {
        eg_dprsr_md.drop_ctl = 1;
    }

    apply {
        now = departure[31:0];
        compute_remainder();
        if (remainder == 0) {
            late = 1;
        } else {
            late = 0;
        }
        drop = drop_if_due.execute(port);
        if (drop == 1) {
            drop_packet();
        }
    }
}

control Egress(EGRESS_PARAMETERS) {

    MyAqm() aqm;

    apply {
        aqm.apply(eg_intr_md.deq_timedelta, eg_prsr_md.global_tstamp, eg_intr_md.egress_port, eg_dprsr_md);
    }
}

control EgressDeparser(EGRESS_DEPARSER_PARAMETERS) {
    apply {
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
    }
}

#include "common/switch.p4"
