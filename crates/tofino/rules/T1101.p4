//! T1101: a program has 12 stages, on Tofino 2 20.

#include "shared/egress.p4"
    action to_count() {
        hdr.report.count = hdr.report.extra + hdr.report.delay;
    }
    action to_extra() {
        hdr.report.extra = hdr.report.count + hdr.report.delay;
    }
    apply {
        // Each step needs the result of the one before.
        to_count();
        to_extra();
        to_count();
        to_extra();
        to_count();
        to_extra();
        to_count();
        to_extra();
        to_count();
        to_extra();
        to_count();
        to_extra();
#ifdef BROKEN
        to_count();
#endif
    }
#include "shared/egress_end.p4"
