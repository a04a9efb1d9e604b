//! T1001: a condition does not order two fields.

#include "shared/egress.p4"
#ifdef BROKEN
    apply {
        if (hdr.report.delay < hdr.report.extra) {
            dprs.drop_ctl = 1;
        }
    }
#else
    // 0 if delay is the smaller one; the next stage asks.
    action subtract() {
        meta.delay = hdr.report.delay |-| hdr.report.extra;
    }
    apply {
        subtract();
        if (meta.delay == 0) {
            dprs.drop_ctl = 1;
        }
    }
#endif
#include "shared/egress_end.p4"
