//! T0505: a RegisterParam stands alone.

#include "shared/egress.p4"
    RegisterParam<bit<32>>(5000000) target;
    Register<bit<32>, bit<9>>(512) violations;
    RegisterAction<bit<32>, bit<9>, bit<32>>(violations) add = {
        void apply(inout bit<32> value, out bit<32> total) {
#ifdef BROKEN
            if (meta.delay > target.read() + 1500) {
#else
            if (meta.delay > target.read()) {
#endif
                value = value + 1;
            }
            total = value;
        }
    };
    apply {
        hdr.report.count = add.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
