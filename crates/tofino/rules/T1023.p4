//! T1023: a sum takes a header's field in its own width.

#include "shared/egress.p4"
    action extend() {
        meta.count = (bit<32>)hdr.ipv4.total_len;
    }

    apply {
#ifdef BROKEN
        hdr.report.delay = hdr.report.delay + (bit<32>)hdr.ipv4.total_len;
#else
        extend();
        hdr.report.delay = hdr.report.delay + meta.count;
#endif
    }
#include "shared/egress_end.p4"
