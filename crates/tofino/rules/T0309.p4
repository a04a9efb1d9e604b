//! T0309: update ALUs add, subtract, take minimum or maximum, and do boolean functions.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) average;
    RegisterAction<bit<32>, bit<9>, bit<32>>(average) decay = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
#ifdef BROKEN
            value = value >> 1;
#else
            // A packet that comes back brings half of what it was told.
            value = meta.delay;
#endif
        }
    };
    apply {
        meta.delay = hdr.report.delay >> 1;
        hdr.report.extra = decay.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
