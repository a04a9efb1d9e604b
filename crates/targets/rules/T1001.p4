//! T1001: a condition does not order two fields.

#include "shared/egress.p4"
#ifdef BROKEN
    apply {
        if (hdr.report.delay < hdr.report.extra) {
            dprs.drop_ctl = 1;
        }
    }
#else
    apply {
        // 0 if delay is the smaller one; the next stage asks.
        meta.delay = hdr.report.delay |-| hdr.report.extra;
        if (meta.delay == 0) {
            dprs.drop_ctl = 1;
        }
    }
#endif
#include "shared/egress_end.p4"
