//! T0305: two packet fields cannot be combined.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) last_delay;
    RegisterAction<bit<32>, bit<9>, bit<32>>(last_delay) store = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
#ifdef BROKEN
            value = meta.now - meta.arrival;
#else
            value = meta.delay;
#endif
        }
    };
    apply {
        meta.delay = meta.now - meta.arrival;
        hdr.report.delay = store.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
