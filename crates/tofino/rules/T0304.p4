//! T0304: the two halves of an entry cannot be combined.

struct counts_t {
    bit<32> count;
    bit<32> last_count;
}

#include "shared/egress.p4"
    Register<counts_t, bit<9>>(512) counts;
    RegisterAction<counts_t, bit<9>, bit<32>>(counts) resume = {
        void apply(inout counts_t value, out bit<32> out_count) {
            out_count = value.count;
#ifdef BROKEN
            value.count = value.count - value.last_count;
#else
            value.count = value.count - hdr.report.count;
#endif
        }
    };
    apply {
        // A packet that was mirrored brings last_count back as a field.
        hdr.report.extra = resume.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
