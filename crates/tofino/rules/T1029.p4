//! T1029: a filter measures one field, and a meter starts from the colour in one.

#include "shared/egress.p4"
    Wred<bit<19>, bit<9>>(512, 1, 0) early;
    bit<19> depth;
    action measure() {
#ifdef BROKEN
        hdr.report.state = early.execute(19w100, eg.egress_port);
#else
        hdr.report.state = early.execute(depth, eg.egress_port);
#endif
    }
    apply {
        depth = eg.enq_qdepth;
        measure();
    }
#include "shared/egress_end.p4"
