//! T1011: a packet meets a table once in a pass.

#include "shared/egress.p4"
    action set_state(bit<8> state) {
        hdr.report.state = state;
    }
    table states {
        key = { meta.kind : exact; }
        actions = { set_state; }
        size = 16;
    }
    apply {
#ifdef BROKEN
        states.apply();
        if (hdr.report.state == 1) {
            states.apply();
        }
#else
        if (meta.above_target == 1) {
            states.apply();
        } else {
            meta.kind = 0;
            states.apply();
        }
#endif
    }
#include "shared/egress_end.p4"
