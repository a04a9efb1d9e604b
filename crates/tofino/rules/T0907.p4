//! T0907: a deparser assigns the results of checksums only.

#include "shared/deparser.p4"
    Checksum() checksum;
    apply {
#ifdef BROKEN
        hdr.ipv4.hdr_checksum = 0;
#else
        hdr.ipv4.hdr_checksum = checksum.update({
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
            hdr.ipv4.identification, hdr.ipv4.frag, hdr.ipv4.ttl, hdr.ipv4.protocol,
            hdr.ipv4.src_addr, hdr.ipv4.dst_addr });
#endif
        packet.emit(hdr);
    }
#include "shared/deparser_end.p4"
