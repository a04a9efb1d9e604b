//! T0307: the math unit's result goes to the first half of an entry.

#ifdef BROKEN
struct counts_t {
    bit<32> count;
    bit<32> drop_next;
}
#else
struct schedule_t {
    bit<32> drop_next;
    bit<32> count;
}
#endif

#include "shared/egress.p4"
    MathUnit<bit<32>>(MathOp_t.RSQRT, 100000000) interval_by_sqrt;
#ifdef BROKEN
    Register<counts_t, bit<9>>(512) schedule;
    RegisterAction<counts_t, bit<9>, bit<32>>(schedule) advance = {
        void apply(inout counts_t value, out bit<32> due_at) {
#else
    Register<schedule_t, bit<9>>(512) schedule;
    RegisterAction<schedule_t, bit<9>, bit<32>>(schedule) advance = {
        void apply(inout schedule_t value, out bit<32> due_at) {
#endif
            due_at = value.drop_next;
            value.drop_next = value.drop_next + interval_by_sqrt.execute(value.count);
        }
    };
    apply {
        hdr.report.drop_next = advance.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
