//! T0503: a register has at most four actions.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) count;
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) reset = {
        void apply(inout bit<32> value) { value = 0; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) start = {
        void apply(inout bit<32> value) { value = 1; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) add = {
        void apply(inout bit<32> value) { value = value + 1; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) set = {
        void apply(inout bit<32> value) { value = hdr.report.count; }
    };
#ifdef BROKEN
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) subtract = {
        void apply(inout bit<32> value) { value = value - 1; }
    };
#endif
    apply {
        if (meta.kind == 0) {
            reset.execute(eg.egress_port);
        } else if (meta.kind == 1) {
            start.execute(eg.egress_port);
        } else if (meta.kind == 2) {
            add.execute(eg.egress_port);
#ifdef BROKEN
        } else if (meta.kind == 3) {
            subtract.execute(eg.egress_port);
#endif
        } else {
            set.execute(eg.egress_port);
        }
    }
#include "shared/egress_end.p4"
