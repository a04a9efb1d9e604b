//! T0405: outputs of a register's actions share the predicate's place.

struct counts_t {
    bit<32> count;
    bit<32> last_count;
}

#include "shared/egress.p4"
    Register<counts_t, bit<9>>(512) counts;
    RegisterAction<counts_t, bit<9>, bit<8>>(counts) start = {
        void apply(inout counts_t value, out bit<8> verdict) {
            verdict = 0;
            if (value.count == 0) {
                verdict = 1;
            }
            value.count = 1;
        }
    };
    RegisterAction<counts_t, bit<9>, bit<8>>(counts) add = {
        void apply(inout counts_t value, out bit<8> verdict) {
            verdict = 0;
            if (value.count == 0) {
#ifdef BROKEN
                verdict = 2;
#else
                verdict = 1;
#endif
            }
            value.count = value.count + 1;
        }
    };
    apply {
        if (meta.above_target == 1) {
            hdr.report.verdict = start.execute(eg.egress_port);
        } else {
            hdr.report.verdict = add.execute(eg.egress_port);
        }
    }
#include "shared/egress_end.p4"
