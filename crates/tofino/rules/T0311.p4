//! T0311: a packet field is at most as wide as the register.

#include "shared/egress.p4"
    Register<bit<16>, bit<9>>(512) longest;
    RegisterAction<bit<16>, bit<9>, bit<16>>(longest) update = {
        void apply(inout bit<16> value, out bit<16> after) {
#ifdef BROKEN
            if (meta.delay > 1000) {
#else
            // In units of 65,536 ns.
            if (meta.delay[31:16] > 1000) {
#endif
                value = value + 1;
            }
            after = value;
        }
    };
    apply {
        hdr.report.size = update.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
