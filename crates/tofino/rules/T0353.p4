//! T0353: a division of a register action needs a newer compiler.

#define TOFINO2
#include "shared/egress.p4"
    Register<bit<16>, bit<9>>(512) sizes;
    RegisterAction<bit<16>, bit<9>, bit<16>>(sizes) share = {
        void apply(inout bit<16> value, out bit<16> part) {
#ifdef BROKEN
            part = value / hdr.ipv4.total_len;
#else
            part = value - hdr.ipv4.total_len;
#endif
        }
    };
    apply {
        hdr.report.size = share.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
