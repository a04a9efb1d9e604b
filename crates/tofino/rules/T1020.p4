//! T1020: an instruction does not subtract action data.

#include "shared/egress.p4"
#ifdef BROKEN
    action correct(bit<32> offset) {
        hdr.report.delay = hdr.report.delay - offset;
    }
#else
    action correct(bit<32> minus_offset) {
        hdr.report.delay = hdr.report.delay + minus_offset;
    }
#endif
    table ports {
        key = { eg.egress_port : exact; }
        actions = { correct; }
        size = 64;
    }
    apply {
        ports.apply();
    }
#include "shared/egress_end.p4"
