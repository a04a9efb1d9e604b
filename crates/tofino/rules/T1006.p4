//! T1006: a shift has a constant count.

#include "shared/egress.p4"
#ifdef BROKEN
    apply {
        hdr.report.delay = meta.delay >> meta.state;
    }
#else
    action by_1() { hdr.report.delay = meta.delay >> 1; }
    action by_2() { hdr.report.delay = meta.delay >> 2; }
    table halve {
        key = { meta.state : exact; }
        actions = { by_1; by_2; }
        const entries = {
            1 : by_1();
            2 : by_2();
        }
        size = 2;
    }
    apply {
        halve.apply();
    }
#endif
#include "shared/egress_end.p4"
