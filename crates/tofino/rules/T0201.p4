//! T0201: a register action makes at most two comparisons, on Tofino 2 four.

#include "shared/egress.p4"
    Register<bit<8>, bit<9>>(512) phase;
    RegisterAction<bit<8>, bit<9>, bit<8>>(phase) step = {
        void apply(inout bit<8> value, out bit<8> before) {
            before = value;
#ifdef BROKEN
            if (value == 0 && meta.above_target == 1) {
                value = 1;
            } else if (value == 1 && meta.due == 1) {
                value = 0;
            }
#else
            // above_target and due became one event in an earlier stage: 1 start, 2 end.
            if (value == 0 && meta.kind == 1) {
                value = 1;
            } else if (value != 0 && meta.kind != 1) {
                value = 0;
            }
#endif
        }
    };
    apply {
        hdr.report.state = step.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
