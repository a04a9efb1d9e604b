//! T0312: the math unit reads memory or a packet field.

struct schedule_t {
    bit<32> drop_next;
    bit<32> count;
}

#include "shared/egress.p4"
    MathUnit<bit<32>>(MathOp_t.RSQRT, 100000000) interval_by_sqrt;
    Register<schedule_t, bit<9>>(512) schedule;
    RegisterAction<schedule_t, bit<9>, bit<32>>(schedule) advance = {
        void apply(inout schedule_t value, out bit<32> due_at) {
            due_at = value.drop_next;
#ifdef BROKEN
            value.drop_next = value.drop_next + interval_by_sqrt.execute(value.count + 1);
#else
            // The count one lower, as count starts at 1 instead of 0.
            value.drop_next = value.drop_next + interval_by_sqrt.execute(value.count);
#endif
        }
    };
    apply {
        hdr.report.drop_next = advance.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
