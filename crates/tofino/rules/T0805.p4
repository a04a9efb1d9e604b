//! T0805: the step of a parser counter and the adjustment of a counter or meter are constants.

#include "shared/egress.p4"
    Counter<bit<32>, bit<9>>(512, CounterType_t.BYTES) sent;
    apply {
#ifdef BROKEN
        sent.count(eg.egress_port, (bit<32>) meta.above_target);
#else
        sent.count(eg.egress_port, sizeInBytes(hdr.report) + 4);
#endif
    }
#include "shared/egress_end.p4"
