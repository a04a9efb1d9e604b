//! T0202: a comparison has at most one memory word, one packet field and one constant.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) worst;
    RegisterAction<bit<32>, bit<9>, bit<1>>(worst) check = {
        void apply(inout bit<32> value, out bit<1> is_worse) {
            is_worse = 0;
#ifdef BROKEN
            if (meta.now - meta.arrival > value) {
#else
            if (meta.delay > value) {
#endif
                is_worse = 1;
            }
        }
    };
    apply {
        meta.delay = meta.now - meta.arrival;
        hdr.report.verdict = (bit<8>) check.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
