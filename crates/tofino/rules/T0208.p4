//! T0208: a comparison has one mask, a constant.

#define TOFINO2
#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) flags;
    RegisterAction<bit<32>, bit<9>, bit<8>>(flags) test = {
        void apply(inout bit<32> value, out bit<8> is_high) {
            is_high = 0;
#ifdef BROKEN
            if ((value & 0xff) > 200) {
#else
            if ((value & 0xff) > 20) {
#endif
                is_high = 1;
            }
        }
    };
    apply {
        hdr.report.verdict = test.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
