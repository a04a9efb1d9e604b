// IPv4's checksum, verified and computed.
//
// A program defines `struct headers_t` with ipv4 and ipv4_options, and `struct metadata_t`, before it includes
// this file.
#ifndef COMMON_CHECKSUM_P4
#define COMMON_CHECKSUM_P4

// What the IPv4 checksum goes over.
#define IPV4_CHECKSUM_FIELDS { \
    hdr.ipv4.version, hdr.ipv4.header_length, hdr.ipv4.dscp, hdr.ipv4.ecn, \
    hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags, \
    hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.source, \
    hdr.ipv4.destination, hdr.ipv4_options.options }

control RouterVerify(inout headers_t hdr, inout metadata_t md) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), IPV4_CHECKSUM_FIELDS, hdr.ipv4.header_checksum,
                        HashAlgorithm.csum16);
    }
}

control RouterUpdate(inout headers_t hdr, inout metadata_t md) {
    apply {
        update_checksum(hdr.ipv4.isValid(), IPV4_CHECKSUM_FIELDS, hdr.ipv4.header_checksum,
                        HashAlgorithm.csum16);
    }
}

#endif
