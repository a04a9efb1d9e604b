//! T0204: a comparison looks at the whole memory word.

#include "shared/egress.p4"
    // The upper bits hold a time, the lowest a flag: a comparison sees both.
#ifdef BROKEN
    Register<bit<32>, bit<9>>(512) dropping;
    RegisterAction<bit<32>, bit<9>, bit<1>>(dropping) ask = {
        void apply(inout bit<32> value, out bit<1> answer) {
            answer = 0;
            if (value[0:0] == 1) {
                answer = 1;
            }
        }
    };
#else
    // Two registers: the flag has one of its own.
    Register<bit<8>, bit<9>>(512) dropping;
    RegisterAction<bit<8>, bit<9>, bit<1>>(dropping) ask = {
        void apply(inout bit<8> value, out bit<1> answer) {
            answer = 0;
            if (value == 1) {
                answer = 1;
            }
        }
    };
#endif
    apply {
        hdr.report.verdict = (bit<8>) ask.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
