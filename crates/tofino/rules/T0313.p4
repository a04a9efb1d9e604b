//! T0313: an update of a word of 64 bits copies, adds, subtracts, or makes `|` or `^`.

#define TOFINO2
#include "shared/egress.p4"
    Register<bit<64>, bit<9>>(512) last;
    RegisterAction<bit<64>, bit<9>, bit<32>>(last) keep = {
        void apply(inout bit<64> value, out bit<32> above) {
            above = value[63:32];
#ifdef BROKEN
            value = max(value, 16w0 ++ prsr.global_tstamp);
#else
            value = 16w0 ++ prsr.global_tstamp;
#endif
        }
    };
    apply {
        hdr.report.extra = keep.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
