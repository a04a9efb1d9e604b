//! T0203: a comparison is a sum against zero.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) marked;
    RegisterAction<bit<32>, bit<9>, bit<32>>(marked) count_ce = {
        void apply(inout bit<32> value, out bit<32> total) {
#ifdef BROKEN
            if (hdr.report.state & 3 == 3) {
#else
            if (meta.state == 3) {
#endif
                value = value + 1;
            }
            total = value;
        }
    };
    apply {
        meta.state = hdr.report.state & 3;
        hdr.report.count = count_ce.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
