//! T1004: an action does everything at once.

#include "shared/egress.p4"
#ifdef BROKEN
    action measure(bit<32> offset) {
        hdr.report.delay = meta.now - meta.arrival;
        hdr.report.extra = hdr.report.delay + offset;
    }
    table ports {
        key = { eg.egress_port : exact; }
        actions = { measure; }
        size = 64;
    }
    apply {
        ports.apply();
    }
#else
    action add_offset(bit<32> offset) {
        hdr.report.extra = hdr.report.delay + offset;
    }
    table ports {
        key = { eg.egress_port : exact; }
        actions = { add_offset; }
        size = 64;
    }
    apply {
        hdr.report.delay = meta.now - meta.arrival;
        ports.apply();
    }
#endif
#include "shared/egress_end.p4"
