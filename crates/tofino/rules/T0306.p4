//! T0306: an update uses one constant.

#include "shared/egress.p4"
    RegisterParam<bit<32>>(100000000) interval;
    Register<bit<32>, bit<9>>(512) horizon;
    RegisterAction<bit<32>, bit<9>, bit<32>>(horizon) start = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
#ifdef BROKEN
            value = interval.read() + 1000;
#else
            value = interval.read();
#endif
        }
    };
    apply {
        hdr.report.drop_next = start.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
