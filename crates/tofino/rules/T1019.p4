//! T1019: a hash takes in fields and what an instruction computes, but no part of that.

#include "shared/egress.p4"
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    apply {
#ifdef BROKEN
        hdr.report.size = hash.get({ (hdr.report.count + hdr.report.extra)[15:0] });
#else
        hdr.report.size = hash.get({ hdr.report.count[15:0] + hdr.report.extra[15:0] });
#endif
    }
#include "shared/egress_end.p4"
