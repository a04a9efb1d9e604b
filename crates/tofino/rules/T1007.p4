//! T1007: a packet passes each stage once.

#include "shared/egress.p4"
    apply {
#ifdef BROKEN
        for (bit<8> round in 1 .. 2) {
            hdr.report.verdict = hdr.report.verdict + 1;
        }
#else
        hdr.report.verdict = hdr.report.verdict + 1;
        hdr.report.verdict = hdr.report.verdict + 1;
#endif
    }
#include "shared/egress_end.p4"
