//! T1021: an instruction computes with action data and a field.

#include "shared/egress.p4"
#ifdef BROKEN
    action limit(bit<32> target, bit<32> interval) {
        hdr.report.extra = target + interval;
    }
#else
    action limit(bit<32> target_and_interval) {
        hdr.report.extra = target_and_interval;
    }
#endif
    table ports {
        key = { eg.egress_port : exact; }
        actions = { limit; }
        size = 64;
    }
    apply {
        ports.apply();
    }
#include "shared/egress_end.p4"
