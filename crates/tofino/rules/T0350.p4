//! T0350: reading an entry after assigning to it gives the old value.

struct counts_t {
    bit<32> count;
    bit<32> last_count;
}

#include "shared/egress.p4"
    Register<counts_t, bit<9>>(512) counts;
    RegisterAction<counts_t, bit<9>, bit<32>>(counts) close = {
        void apply(inout counts_t value, out bit<32> before) {
            before = value.last_count;
#ifdef BROKEN
            // last_count becomes the old count, not the new one.
            value.count = value.count + 1;
            value.last_count = value.count;
#else
            value.last_count = value.count;
            value.count = value.count + 1;
#endif
        }
    };
    apply {
        hdr.report.count = close.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
