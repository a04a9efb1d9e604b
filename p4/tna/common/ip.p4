// IPv4 (RFC 791) and IPv6 (RFC 8200) as far as a router and an ECN marker (RFC 3168) look.
#ifndef COMMON_IP_P4
#define COMMON_IP_P4

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;

const bit<2> ECN_NOT_CAPABLE = 0;       // the transport does not react to marks
const bit<2> ECN_CONGESTED   = 3;       // Congestion Experienced

// Without options: packets that have some are not read (see the parsers).
header ipv4_h {
    bit<4>  version;
    bit<4>  header_length;              // in words of 32 bits
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<3>  flags;
    bit<13> fragment_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> header_checksum;
    bit<32> source;
    bit<32> destination;
}

header ipv6_h {
    bit<4>   version;
    bit<6>   dscp;
    bit<2>   ecn;
    bit<20>  flow_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> source;
    bit<128> destination;
}

// What a deparser's Checksum goes over.
#define IPV4_CHECKSUM_FIELDS(ipv4) { \
    ipv4.version, ipv4.header_length, ipv4.dscp, ipv4.ecn, ipv4.total_length, \
    ipv4.identification, ipv4.flags, ipv4.fragment_offset, ipv4.ttl, ipv4.protocol, \
    ipv4.source, ipv4.destination }

#endif
