//! T0303: an update is one operation.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) drop_next;
    RegisterAction<bit<32>, bit<9>, bit<32>>(drop_next) advance = {
        void apply(inout bit<32> value, out bit<32> after) {
#ifdef BROKEN
            value = value + meta.delay + 100000;
#else
            value = value + meta.delay;
#endif
            after = value;
        }
    };
    apply {
        meta.delay = meta.delay + 100000;
        hdr.report.drop_next = advance.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
