//! T0403: an output is memory, a field, an updated half, or the outcome of the comparisons.

struct counts_t {
    bit<32> count;
    bit<32> last_count;
}

#include "shared/egress.p4"
    Register<counts_t, bit<9>>(512) counts;
    RegisterAction<counts_t, bit<9>, bit<32>>(counts) read = {
        void apply(inout counts_t value, out bit<32> result) {
#ifdef BROKEN
            result = value.count + 1;
#else
            result = value.count;
#endif
            value.last_count = meta.count;
        }
    };
    apply {
        hdr.report.count = read.execute(eg.egress_port);
#ifndef BROKEN
        hdr.report.count = hdr.report.count + 1;
#endif
    }
#include "shared/egress_end.p4"
