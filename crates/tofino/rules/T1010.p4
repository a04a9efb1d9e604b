//! T1010: a range key has at most 20 bits.

#include "shared/egress.p4"
    action drop() {
        dprs.drop_ctl = 1;
    }
    table too_late {
#ifdef BROKEN
        key = { meta.delay : range; }
#else
        // In units of 4,096 ns.
        key = { meta.delay[31:12] : range; }
#endif
        actions = { drop; }
        size = 16;
    }
    apply {
        too_late.apply();
    }
#include "shared/egress_end.p4"
