//! T0102: a register action has the entry type of its register.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) packets;
#ifdef BROKEN
    RegisterAction<bit<16>, bit<9>, bit<16>>(packets) add = {
        void apply(inout bit<16> value, out bit<16> total) {
            value = value + 1;
            total = value;
        }
    };
    apply {
        hdr.report.size = add.execute(eg.egress_port);
    }
#else
    RegisterAction<bit<32>, bit<9>, bit<32>>(packets) add = {
        void apply(inout bit<32> value, out bit<32> total) {
            value = value + 1;
            total = value;
        }
    };
    apply {
        hdr.report.count = add.execute(eg.egress_port);
    }
#endif
#include "shared/egress_end.p4"
