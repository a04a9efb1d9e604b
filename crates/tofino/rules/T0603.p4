//! T0603: a one-bit register is set, cleared or read.

#include "shared/egress.p4"
#ifdef BROKEN
    Register<bit<1>, bit<9>>(512) dropping;
    RegisterAction<bit<1>, bit<9>, bit<1>>(dropping) set = {
        void apply(inout bit<1> value, out bit<1> before) {
            before = value;
            value = meta.above_target;
        }
    };
#else
    Register<bit<8>, bit<9>>(512) dropping;
    RegisterAction<bit<8>, bit<9>, bit<1>>(dropping) set = {
        void apply(inout bit<8> value, out bit<1> before) {
            before = (bit<1>) value;
            value = meta.state;
        }
    };
#endif
    apply {
        hdr.report.verdict = (bit<8>) set.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
