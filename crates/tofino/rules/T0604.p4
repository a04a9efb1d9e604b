//! T0604: a register action writes its entry and its output only.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) drop_next;
    RegisterAction<bit<32>, bit<9>, bit<32>>(drop_next) swap = {
#ifdef BROKEN
        void apply(inout bit<32> value) {
            hdr.report.drop_next = value;
#else
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
#endif
            value = meta.now;
        }
    };
    apply {
#ifdef BROKEN
        swap.execute(eg.egress_port);
#else
        hdr.report.drop_next = swap.execute(eg.egress_port);
#endif
    }
#include "shared/egress_end.p4"
