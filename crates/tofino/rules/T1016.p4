//! T1016: an action neither compares nor chooses.

#include "shared/egress.p4"
#ifdef BROKEN
    action mark() {
        if (hdr.report.delay == 5) {
            hdr.report.verdict = 1;
        }
    }
    apply {
        mark();
    }
#else
    action mark() {
        hdr.report.verdict = 1;
    }
    apply {
        if (hdr.report.delay == 5) {
            mark();
        }
    }
#endif
#include "shared/egress_end.p4"
