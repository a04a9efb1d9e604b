//! T0806: an extern is used in the block that has it.

#include "shared/deparser.p4"
#ifdef BROKEN
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    apply {
        hdr.report.size = hash.get({ hdr.ipv4.src_addr });
        packet.emit(hdr);
    }
#else
    // The control hashes.
    apply {
        packet.emit(hdr);
    }
#endif
#include "shared/deparser_end.p4"
