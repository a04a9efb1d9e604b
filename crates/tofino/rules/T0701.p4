//! T0701: a packet accesses a register once in a pass.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) count;
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) read = {
        void apply(inout bit<32> value, out bit<32> result) { result = value; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) add = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = value + 1;
            result = value;
        }
    };
    apply {
#ifdef BROKEN
        hdr.report.count = read.execute(eg.egress_port);
        if (meta.above_target == 1) {
            hdr.report.count = add.execute(eg.egress_port);
        }
#else
        if (meta.above_target == 1) {
            hdr.report.count = add.execute(eg.egress_port);
        } else {
            hdr.report.count = read.execute(eg.egress_port);
        }
#endif
    }
#include "shared/egress_end.p4"
