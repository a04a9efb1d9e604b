//! T1025: tables are applied in the same order on all paths.

#include "shared/egress.p4"
    action count(bit<32> count) {
        hdr.report.count = count;
    }
    action resize(bit<16> size) {
        hdr.report.size = size;
    }
    table counts {
        key = { eg.egress_port: exact; }
        actions = { count; }
        size = 16;
    }
    table sizes {
        key = { eg.egress_qid: exact; }
        actions = { resize; }
        size = 16;
    }
    apply {
        if (hdr.report.verdict == 1) {
            counts.apply();
            sizes.apply();
        } else {
#ifdef BROKEN
            sizes.apply();
            counts.apply();
#else
            counts.apply();
            sizes.apply();
#endif
        }
    }
#include "shared/egress_end.p4"
