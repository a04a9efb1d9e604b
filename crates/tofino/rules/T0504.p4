//! T0504: a register has one math unit.

struct schedule_t {
    bit<32> drop_next;
    bit<32> count;
}

#include "shared/egress.p4"
    MathUnit<bit<32>>(MathOp_t.RSQRT, 100000000) interval_by_sqrt;
#ifdef BROKEN
    MathUnit<bit<32>>(MathOp_t.RSQRT, 50000000) half_interval_by_sqrt;
#endif
    Register<schedule_t, bit<9>>(512) schedule;
    RegisterAction<schedule_t, bit<9>, bit<32>>(schedule) advance = {
        void apply(inout schedule_t value) {
            if (meta.above_target == 1) {
                value.drop_next = value.drop_next + interval_by_sqrt.execute(value.count);
#ifdef BROKEN
            } else {
                value.drop_next = value.drop_next + half_interval_by_sqrt.execute(value.count);
#endif
            }
        }
    };
    apply {
        advance.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
