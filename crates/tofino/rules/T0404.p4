//! T0404: an action has one output, on Tofino 2 four.

struct counts_t {
    bit<32> count;
    bit<32> last_count;
}

#include "shared/egress.p4"
    Register<counts_t, bit<9>>(512) counts;
#ifdef BROKEN
    RegisterAction<counts_t, bit<9>, counts_t>(counts) read = {
        void apply(inout counts_t value, out counts_t both) {
            both = value;
        }
    };
    apply {
        counts_t both = read.execute(eg.egress_port);
        hdr.report.count = both.count;
        hdr.report.extra = both.last_count;
    }
#else
    RegisterAction<counts_t, bit<9>, bit<32>>(counts) read = {
        void apply(inout counts_t value, out bit<32> count) {
            count = value.count;
        }
    };
    apply {
        hdr.report.count = read.execute(eg.egress_port);
    }
#endif
#include "shared/egress_end.p4"
