//! T1101: a program has 12 stages.

#include "shared/egress.p4"
    apply {
        // Each step needs the result of the one before.
        hdr.report.count = hdr.report.extra + hdr.report.delay;
        hdr.report.extra = hdr.report.count + hdr.report.delay;
        hdr.report.count = hdr.report.extra + hdr.report.delay;
        hdr.report.extra = hdr.report.count + hdr.report.delay;
        hdr.report.count = hdr.report.extra + hdr.report.delay;
        hdr.report.extra = hdr.report.count + hdr.report.delay;
        hdr.report.count = hdr.report.extra + hdr.report.delay;
        hdr.report.extra = hdr.report.count + hdr.report.delay;
        hdr.report.count = hdr.report.extra + hdr.report.delay;
        hdr.report.extra = hdr.report.count + hdr.report.delay;
        hdr.report.count = hdr.report.extra + hdr.report.delay;
        hdr.report.extra = hdr.report.count + hdr.report.delay;
#ifdef BROKEN
        hdr.report.count = hdr.report.extra + hdr.report.delay;
#endif
    }
#include "shared/egress_end.p4"
