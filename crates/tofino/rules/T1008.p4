//! T1008: saturating arithmetic fills one container.

#include "shared/egress.p4"
    apply {
#ifdef BROKEN
        hdr.ethernet.src_addr = prsr.global_tstamp |-| hdr.ethernet.dst_addr;
#else
        hdr.report.delay = prsr.global_tstamp[31:0] |-| hdr.ethernet.dst_addr[31:0];
#endif
    }
#include "shared/egress_end.p4"
