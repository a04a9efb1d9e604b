//! T0407: outputs of several kinds come in an order that the compiler follows.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) longest;
    RegisterAction<bit<32>, bit<9>, bit<32>>(longest) waited = {
        void apply(inout bit<32> value, out bit<32> result) {
#ifdef BROKEN
            if (value == 0) {
                result = value;
            } else {
                result = value + meta.delay;
            }
#else
            if (value != 0) {
                result = value + meta.delay;
            } else {
                result = value;
            }
#endif
        }
    };
    apply {
        hdr.report.delay = waited.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
