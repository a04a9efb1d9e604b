//! T1031: an instruction takes no validity beside a field.

#include "shared/egress.p4"
    apply {
#ifdef BROKEN
        hdr.report.extra = hdr.report.delay + (bit<32>)(bit<1>)hdr.ipv4.isValid();
#else
        if (hdr.ipv4.isValid()) {
            hdr.report.extra = hdr.report.delay + 1;
        }
#endif
    }
#include "shared/egress_end.p4"
