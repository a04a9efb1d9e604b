//! T0706: a packet meets a counter or meter once in a pass.

#include "shared/egress.p4"
    Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS) packets;
    apply {
#ifdef BROKEN
        if (hdr.report.verdict == 1) {
            packets.count(1);
        }
        if (hdr.report.verdict == 2) {
            packets.count(2);
        }
#else
        if (hdr.report.verdict == 1) {
            packets.count(1);
        } else if (hdr.report.verdict == 2) {
            packets.count(2);
        }
#endif
    }
#include "shared/egress_end.p4"
