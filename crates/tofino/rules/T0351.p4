//! T0351: two assignments to one half can happen together.

#include "shared/egress.p4"
    Register<bit<8>, bit<9>>(512) reasons;
    RegisterAction<bit<8>, bit<9>, bit<8>>(reasons) note = {
        void apply(inout bit<8> value, out bit<8> before) {
            before = value;
#ifdef BROKEN
            // Where both hold, the entry becomes 4 | 8.
            if (meta.above_target == 1) {
                value = 4;
            }
            if (meta.due == 1) {
                value = 8;
            }
#else
            if (meta.above_target == 1) {
                value = 4;
            } else if (meta.due == 1) {
                value = 8;
            }
#endif
        }
    };
    apply {
        hdr.report.verdict = note.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
