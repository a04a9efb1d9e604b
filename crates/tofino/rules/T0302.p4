//! T0302: each half of an entry is assigned once on a path.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) peak;
    RegisterAction<bit<32>, bit<9>, bit<32>>(peak) update = {
        void apply(inout bit<32> value, out bit<32> after) {
#ifdef BROKEN
            // On a processor the second assignment would win; here the two results are OR-ed.
            value = meta.delay;
            if (meta.above_target == 0) {
                value = 0;
            }
#else
            if (meta.above_target == 0) {
                value = 0;
            } else {
                value = meta.delay;
            }
#endif
            after = value;
        }
    };
    apply {
        hdr.report.delay = update.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
