//! T1035: an action takes 32 bits from hashes and random numbers.

#include "shared/egress.p4"
    Hash<bit<32>>(HashAlgorithm_t.CRC32) senders;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) receivers;
    action mix_senders() {
        hdr.report.count = senders.get({ hdr.ipv4.src_addr });
#ifdef BROKEN
        hdr.report.size = receivers.get({ hdr.ipv4.dst_addr });
#endif
    }
    action mix_receivers() {
        hdr.report.size = receivers.get({ hdr.ipv4.dst_addr });
    }
    apply {
        mix_senders();
#ifndef BROKEN
        mix_receivers();
#endif
    }
#include "shared/egress_end.p4"
