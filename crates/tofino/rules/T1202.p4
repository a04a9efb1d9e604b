//! T1202: the queue's timestamps have 18 bits and wrap after 262 us.

#include "shared/egress.p4"
    apply {
#ifdef BROKEN
        hdr.report.delay = (bit<32>) eg.deq_timedelta;
#else
        // The ingress pass has put its own time into the packet.
        hdr.report.delay = prsr.global_tstamp[31:0] - hdr.report.extra;
#endif
    }
#include "shared/egress_end.p4"
