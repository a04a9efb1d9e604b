//! T0803: the argument of an extern is one that the chip can be configured with.

#include "shared/egress.p4"
    // The exponent is multiplied by 1/2 (shift -1), 1 (0) or 2 (+1).
#ifdef BROKEN
    MathUnit<bit<32>>(true, -2, 20, {
        70, 72, 75, 78, 82, 86, 90, 96, 102, 111, 121, 135, 0, 0, 0, 0 }) unit;
#else
    MathUnit<bit<32>>(true, -1, 20, {
        70, 72, 75, 78, 82, 86, 90, 96, 102, 111, 121, 135, 0, 0, 0, 0 }) unit;
#endif
    Register<bit<32>, bit<9>>(512) interval;
    RegisterAction<bit<32>, bit<9>, bit<32>>(interval) set = {
        void apply(inout bit<32> value, out bit<32> after) {
            value = unit.execute(meta.count);
            after = value;
        }
    };
    apply {
        hdr.report.delay = set.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
