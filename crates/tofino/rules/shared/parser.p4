//! Everything up to the inside of the egress parser, which the including file writes.

#include "types.p4"
#include "ingress.p4"

header tag_h {
    bit<16> value;
}

header options_h {
    varbit<320> data;
}

struct parsed_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    options_h  options;
    tag_h[4]   tags;
    report_h   report;
}

parser Parser(packet_in packet, out parsed_t hdr, out metadata_t meta,
              out egress_intrinsic_metadata_t eg) {
