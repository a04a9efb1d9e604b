//! T0804: a part of the architecture that is not simulated.

#include "shared/egress.p4"
#ifdef BROKEN
    Lpf<bit<32>, bit<9>>(512) average;
    apply {
        hdr.report.delay = average.execute(meta.delay, eg.egress_port);
    }
#else
    Register<bit<32>, bit<9>>(512) latest;
    RegisterAction<bit<32>, bit<9>, bit<32>>(latest) store = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            value = meta.delay;
        }
    };
    apply {
        hdr.report.delay = store.execute(eg.egress_port);
    }
#endif
#include "shared/egress_end.p4"
