//! T1005: an action adds, subtracts, shifts by constants and does boolean functions.

#include "shared/egress.p4"
#ifdef BROKEN
    apply {
        hdr.report.extra = meta.count * 100;
    }
#else
    action product(bit<32> result) {
        hdr.report.extra = result;
    }
    table times_100 {
        key = { meta.count : exact; }
        actions = { product; }
        size = 1024;
    }
    apply {
        times_100.apply();
    }
#endif
#include "shared/egress_end.p4"
