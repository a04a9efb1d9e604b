//! T1017: a table has one lpm key, and neither ternary nor range keys with it.

#include "shared/egress.p4"
    action mark() {
        hdr.report.verdict = 1;
    }
    table prefixes {
        key = {
            hdr.report.delay : lpm;
#ifdef BROKEN
            hdr.report.extra : lpm;
#else
            hdr.report.extra : exact;
#endif
        }
        actions = { mark; NoAction; }
        const default_action = NoAction();
        size = 64;
    }
    apply {
        prefixes.apply();
    }
#include "shared/egress_end.p4"
