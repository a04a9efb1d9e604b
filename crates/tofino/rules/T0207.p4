//! T0207: the constant of a comparison fits the register's width as a signed number.

#include "shared/egress.p4"
#ifdef BROKEN
    // 200 in 8 bits is -56 as a signed number, and that is what the unit compares with.
    Register<bit<8>, bit<9>>(512) burst;
    RegisterAction<bit<8>, bit<9>, bit<1>>(burst) add = {
        void apply(inout bit<8> value, out bit<1> is_long) {
#else
    Register<bit<16>, bit<9>>(512) burst;
    RegisterAction<bit<16>, bit<9>, bit<1>>(burst) add = {
        void apply(inout bit<16> value, out bit<1> is_long) {
#endif
            is_long = 0;
            if (value >= 200) {
                is_long = 1;
            }
            value = value |+| 1;
        }
    };
    apply {
        hdr.report.verdict = (bit<8>) add.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
