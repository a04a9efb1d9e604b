//! T1026: a cast does not widen what another cast has cut.

#include "shared/egress.p4"
    apply {
#ifdef BROKEN
        hdr.report.count = (bit<32>)(bit<8>)hdr.report.size;
#else
        hdr.report.count = (bit<32>)hdr.report.size[7:0];
#endif
    }
#include "shared/egress_end.p4"
