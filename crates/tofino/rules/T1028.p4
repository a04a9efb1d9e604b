//! T1028: a packet meets one table of an action profile.

#include "shared/egress.p4"
    ActionProfile(64) marks;
    action mark(bit<8> state) {
        hdr.report.state = state;
    }
    table ports {
        key = { eg.egress_port: exact; }
        actions = { mark; }
        implementation = marks;
        size = 16;
    }
    table queues {
        key = { eg.egress_qid: exact; }
        actions = { mark; }
        implementation = marks;
        size = 16;
    }
    apply {
#ifdef BROKEN
        ports.apply();
        queues.apply();
#else
        if (hdr.report.size == 1) {
            ports.apply();
        } else {
            queues.apply();
        }
#endif
    }
#include "shared/egress_end.p4"
