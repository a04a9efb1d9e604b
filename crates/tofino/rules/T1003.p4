//! T1003: a condition does not compute.

#include "shared/egress.p4"
#ifdef BROKEN
    apply {
        if (meta.now - meta.arrival == 0) {
            dprs.drop_ctl = 1;
        }
    }
#else
    action measure() {
        meta.delay = meta.now - meta.arrival;
    }
    apply {
        measure();
        if (meta.delay == 0) {
            dprs.drop_ctl = 1;
        }
    }
#endif
#include "shared/egress_end.p4"
