//! T0308: the math unit's result is added to memory or a constant only.

struct schedule_t {
    bit<32> drop_next;
    bit<32> count;
}

#include "shared/egress.p4"
    MathUnit<bit<32>>(MathOp_t.RSQRT, 100000000) interval_by_sqrt;
    Register<schedule_t, bit<9>>(512) schedule;
    RegisterAction<schedule_t, bit<9>, bit<32>>(schedule) start = {
        void apply(inout schedule_t value, out bit<32> result) {
#ifdef BROKEN
            value.drop_next = meta.now + interval_by_sqrt.execute(value.count);
#else
            value.drop_next = interval_by_sqrt.execute(value.count);
#endif
            result = value.drop_next;
        }
    };
    apply {
        meta.delay = start.execute(eg.egress_port);
        // The next stage adds the time.
        hdr.report.drop_next = meta.now + meta.delay;
    }
#include "shared/egress_end.p4"
