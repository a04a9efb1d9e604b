//! T1012: statements beside each other in `apply` do not compute with each other's results.

#include "shared/egress.p4"
#ifdef BROKEN
    apply {
        meta.delay = hdr.report.count >> 16;
        hdr.report.extra = hdr.report.drop_next + meta.delay;
    }
#else
    action to_epochs() {
        meta.delay = hdr.report.count >> 16;
    }
    apply {
        to_epochs();
        hdr.report.extra = hdr.report.drop_next + meta.delay;
    }
#endif
#include "shared/egress_end.p4"
