// Egress of the programs of this folder without its AQM: headers, parser, parameters.
//
//   from ingress:             bridge header off -> Ethernet -> AQM
//   from the mirror session:  synchronisation header off -> Ethernet -> AQM
//
// What is a program's own it says before it includes this file:
//
//   SYNCHRONISATION_HEADER    type of the header in front of its mirrored copies, if it makes any
//   EGRESS_READS_IP           defined if its AQM reads or writes IP headers
//
// Behind it come struct egress_metadata_t, control Egress(EGRESS_PARAMETERS), control
// EgressDeparser(EGRESS_DEPARSER_PARAMETERS), and as the last line switch.p4.
#ifndef COMMON_EGRESS_P4
#define COMMON_EGRESS_P4

struct egress_headers_t {
    bridge_h   bridge;
#ifdef SYNCHRONISATION_HEADER
    SYNCHRONISATION_HEADER sync;
#endif
    ethernet_h ethernet;
#ifdef EGRESS_READS_IP
    ipv4_h     ipv4;
    ipv6_h     ipv6;
#endif
}

parser EgressParser(
        packet_in packet,
        out egress_headers_t hdr,
        out egress_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
#ifdef SYNCHRONISATION_HEADER
        transition select(packet.lookahead<bit<8>>()) {
            KIND_DATA: parse_data;
            default: parse_sync;
        }
    }
    state parse_sync {
        packet.extract(hdr.sync);
        packet.extract(hdr.ethernet);
        transition accept;
    }
    state parse_data {
#endif
        packet.extract(hdr.bridge);
        packet.extract(hdr.ethernet);
#ifdef EGRESS_READS_IP
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;     // ingress lets none with options pass
            ETHERTYPE_IPV6: parse_ipv6;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
    state parse_ipv6 {
        packet.extract(hdr.ipv6);
#endif
        transition accept;
    }
}

#define EGRESS_PARAMETERS \
        inout egress_headers_t hdr, \
        inout egress_metadata_t md, \
        in egress_intrinsic_metadata_t eg_intr_md, \
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md, \
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md, \
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md

#define EGRESS_DEPARSER_PARAMETERS \
        packet_out packet, \
        inout egress_headers_t hdr, \
        in egress_metadata_t md, \
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md

#endif
