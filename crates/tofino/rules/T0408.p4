//! T0408: an output takes bits of one half of a word of 64 bits.

#define TOFINO2
#include "shared/egress.p4"
    Register<bit<64>, bit<9>>(512) last;
    RegisterAction<bit<64>, bit<9>, bit<32>>(last) read = {
        void apply(inout bit<64> value, out bit<32> part) {
#ifdef BROKEN
            part = value[47:16];
#else
            part = value[31:0];
#endif
        }
    };
    apply {
        hdr.report.extra = read.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
