//! T0601: a register action consists of assignments, if/else and ?:.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) total;
    RegisterAction<bit<32>, bit<9>, bit<32>>(total) add = {
        void apply(inout bit<32> value, out bit<32> after) {
#ifdef BROKEN
            for (bit<8> round in 1 .. 2) {
                value = value + meta.delay;
            }
#else
            value = value + meta.delay;
#endif
            after = value;
        }
    };
    apply {
        meta.delay = meta.delay << 1;
        hdr.report.delay = add.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
