//! T0101: a register entry is one or two words of 1, 8, 16 or 32 bits.

#include "shared/egress.p4"
#ifdef BROKEN
    Register<bit<48>, bit<9>>(512) last_seen;
    RegisterAction<bit<48>, bit<9>, bit<48>>(last_seen) swap = {
        void apply(inout bit<48> value, out bit<48> before) {
            before = value;
            value = prsr.global_tstamp;
        }
    };
    apply {
        hdr.ethernet.src_addr = swap.execute(eg.egress_port);
    }
#else
    Register<bit<32>, bit<9>>(512) last_seen;
    RegisterAction<bit<32>, bit<9>, bit<32>>(last_seen) swap = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            value = prsr.global_tstamp[31:0];
        }
    };
    apply {
        hdr.report.extra = swap.execute(eg.egress_port);
    }
#endif
#include "shared/egress_end.p4"
