//! T0301: at most two different values are computed for each half of an entry.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) count;
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) next = {
        void apply(inout bit<32> value, out bit<32> after) {
            if (meta.above_target == 0) {
                value = 0;
            } else if (meta.due == 1) {
                value = value + 1;
            } else {
#ifdef BROKEN
                value = 1;
#else
                // Neither reset nor counted: the entry stays as it is.
                value = value;
#endif
            }
            after = value;
        }
    };
    apply {
        hdr.report.count = next.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
