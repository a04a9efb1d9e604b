//! T0205: a modular comparison has the width of the register.

#include "shared/egress.p4"
#ifdef BROKEN
    // The sum has its sign in bit 15; the unit looks at bit 31.
    Register<int<32>, bit<9>>(512) credit;
    RegisterAction<int<32>, bit<9>, bit<1>>(credit) check = {
        void apply(inout int<32> value, out bit<1> enough) {
            enough = 0;
            if ((int<16>) meta.size - 1500 > 0) {
                enough = 1;
                value = value + 1;
            }
        }
    };
#else
    Register<int<16>, bit<9>>(512) credit;
    RegisterAction<int<16>, bit<9>, bit<1>>(credit) check = {
        void apply(inout int<16> value, out bit<1> enough) {
            enough = 0;
            if ((int<16>) meta.size - 1500 > 0) {
                enough = 1;
                value = value + 1;
            }
        }
    };
#endif
    apply {
        meta.size = eg.pkt_length;
        hdr.report.verdict = (bit<8>) check.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
