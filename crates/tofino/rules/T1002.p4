//! T1002: a condition orders a field and a constant over at most 12 bits.

#include "shared/egress.p4"
#ifdef BROKEN
    apply {
        if (meta.delay > 5000000) {
            dprs.drop_ctl = 1;
        }
    }
#else
    apply {
        // What is left of 5 ms: 0 if the delay is as long or longer.
        meta.delay = 5000000 |-| meta.delay;
        if (meta.delay == 0) {
            dprs.drop_ctl = 1;
        }
    }
#endif
#include "shared/egress_end.p4"
