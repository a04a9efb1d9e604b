//! T0402: the output cannot be read back.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) peak;
    RegisterAction<bit<32>, bit<9>, bit<32>>(peak) update = {
        void apply(inout bit<32> value, out bit<32> after) {
#ifdef BROKEN
            after = max(value, meta.delay);
            value = after;
#else
            value = max(value, meta.delay);
            after = value;
#endif
        }
    };
    apply {
        hdr.report.delay = update.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
