//! T0406: the arguments of predicate() are the action's first comparisons.

#include "shared/egress.p4"
    Register<bit<8>, bit<9>>(512) dropping;
    RegisterAction<bit<8>, bit<9>, bit<8>>(dropping) step = {
        void apply(inout bit<8> value, out bit<8> phase) {
#ifdef BROKEN
            if (value == 1) {
                value = 0;
            }
            phase = this.predicate(meta.above_target == 1, value == 1);
#else
            phase = this.predicate(meta.above_target == 1, value == 1);
            if (value == 1) {
                value = 0;
            }
#endif
        }
    };
    apply {
        hdr.report.state = step.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
