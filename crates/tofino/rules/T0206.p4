//! T0206: the constant of a comparison fits 32 signed bits.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) bytes;
    RegisterAction<bit<32>, bit<9>, bit<1>>(bytes) add = {
        void apply(inout bit<32> value, out bit<1> is_full) {
            is_full = 0;
#ifdef BROKEN
            if (value > 3000000000) {
#else
            if (value > 2000000000) {
#endif
                is_full = 1;
            }
            value = value + hdr.report.delay;
        }
    };
    apply {
        hdr.report.verdict = (bit<8>) add.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
