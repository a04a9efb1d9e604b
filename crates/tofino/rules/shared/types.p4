//! What all programs of the rules share: headers, metadata, both parsers, the whole ingress pass.

#include <core.p4>
#ifdef TOFINO2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_h {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_len;
    bit<16> identification;
    bit<16> frag;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> hdr_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

/// What a program found out, sent along with the packet so that nothing of it is for nothing.
header report_h {
    bit<32> delay;
    bit<32> count;
    bit<32> drop_next;
    bit<32> extra;
    bit<16> size;
    bit<8>  state;
    bit<8>  verdict;
}

/// Carried by mirrored copies.
header copy_h {
    bit<8>  kind;
    bit<32> delay;
}

struct headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    report_h   report;
}

struct ingress_metadata_t { }

struct metadata_t {
    bit<32>    now;
    bit<32>    arrival;
    bit<32>    delay;
    bit<32>    count;
    bit<16>    size;
    bit<8>     state;
    bit<8>     kind;
    bit<1>     above_target;
    bit<1>     due;
    MirrorId_t session;
}

parser IngressParser(packet_in packet, out headers_t hdr, out ingress_metadata_t meta,
                     out ingress_intrinsic_metadata_t ig) {
    state start {
        packet.extract(ig);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.report);
        transition accept;
    }
}

parser EgressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                    out egress_intrinsic_metadata_t eg) {
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.report);
        transition accept;
    }
}
