//! T1015: a condition reads at most 4 bytes and 12 bits.

#include "shared/egress.p4"
    apply {
#ifdef BROKEN
        if (hdr.report.delay == 5 && hdr.report.extra == 6) {
            dprs.drop_ctl = 1;
        }
#else
        if (hdr.report.delay == 5) {
            if (hdr.report.extra == 6) {
                dprs.drop_ctl = 1;
            }
        }
#endif
    }
#include "shared/egress_end.p4"
