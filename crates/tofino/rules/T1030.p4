//! T1030: a sign is repeated over 16 bits at most.

#include "shared/egress.p4"
    apply {
        int<16> size = (int<16>)hdr.ipv4.total_len;
#ifdef BROKEN
        int<32> wide = (int<32>)size;
        hdr.report.extra = (bit<32>)wide;
#else
        hdr.report.extra = hdr.ipv4.src_addr;
#endif
    }
#include "shared/egress_end.p4"
