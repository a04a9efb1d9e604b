//! T0401: one action always puts out the same thing.

struct counts_t {
    bit<32> count;
    bit<32> last_count;
}

#include "shared/egress.p4"
    Register<counts_t, bit<9>>(512) counts;
    RegisterAction<counts_t, bit<9>, bit<32>>(counts) read = {
        void apply(inout counts_t value, out bit<32> result) {
#ifdef BROKEN
            if (meta.above_target == 1) {
                result = value.count;
            } else {
                result = value.last_count;
            }
#else
            // Off gives 0.
            result = 0;
            if (meta.above_target == 1) {
                result = value.count;
            }
#endif
            value.last_count = meta.count;
        }
    };
    apply {
        hdr.report.count = read.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
