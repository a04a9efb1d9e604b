//! T1203: a math unit's result of 32 bits and more is cut.

#include "shared/egress.p4"
    // A thousand times the number of packets.
    MathUnit<bit<32>>(MathOp_t.MUL, 1000) thousandfold;
    Register<bit<32>, bit<9>>(512) threshold;
    RegisterAction<bit<32>, bit<9>, bit<32>>(threshold) set = {
        void apply(inout bit<32> value, out bit<32> after) {
#ifdef BROKEN
            value = thousandfold.execute(meta.count);
#else
            // At most 65,535 packets.
            value = thousandfold.execute((bit<32>) meta.size);
#endif
            after = value;
        }
    };
    apply {
        hdr.report.extra = set.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
