//! T1034: a hash takes in the same fields wherever it is called.

#include "shared/egress.p4"
    Hash<bit<8>>(HashAlgorithm_t.CRC8) senders;
#ifdef BROKEN
    apply {
        hdr.report.state = senders.get({ hdr.ipv4.src_addr });
        hdr.report.verdict = senders.get({ hdr.ipv4.dst_addr });
    }
#else
    Hash<bit<8>>(HashAlgorithm_t.CRC8) receivers;
    apply {
        hdr.report.state = senders.get({ hdr.ipv4.src_addr });
        hdr.report.verdict = receivers.get({ hdr.ipv4.dst_addr });
    }
#endif
#include "shared/egress_end.p4"
