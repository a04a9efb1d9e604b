//! T0910: a checksum sums whole bytes of headers into 16 bits of one.

#include "shared/deparser.p4"
    Checksum() checksum;
    apply {
        hdr.ipv4.hdr_checksum = checksum.update({
#ifdef BROKEN
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, 2w0, hdr.ipv4.total_len,
#else
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
#endif
            hdr.ipv4.identification, hdr.ipv4.frag, hdr.ipv4.ttl, hdr.ipv4.protocol,
            hdr.ipv4.src_addr, hdr.ipv4.dst_addr });
        packet.emit(hdr);
    }
#include "shared/deparser_end.p4"
