// Headers, metadata and parser of the egress of ../int.p4: its four kinds of packet by their first byte.
#ifndef INT_EGRESS_PARSER_P4
#define INT_EGRESS_PARSER_P4

struct egress_headers_t {
    bridge_h       bridge;
    time_mirror_h  time_mirror;
    hop_mirror_h   hop_mirror;
    ethernet_h     ethernet;
    // A report, in front of the packet that it is about.
    ipv4_h         report_ipv4;
    udp_h          report_udp;
    report_group_h report_group;
    report_h       report;
    report_time_h  report_time;
    int_hop_h      report_hop;
    // The packet.
    ipv4_h         ipv4;
    udp_h          int_udp;
    int_shim_h     int_shim;
    int_md_h       int_md;
    int_node_h     int_node;        // this switch's
    int_hop_h      int_hop;
}

struct egress_metadata_t {
    bit<32> node;
    bit<16> stack_bytes;            // INT-MD and stack
    MirrorId_t session;
    bit<8>  kind;                   // of the copy
    bit<16> ingress_port;           // this hop's measurement
    bit<16> egress_port;
    bit<32> latency;
    bit<8>  queue;
    bit<24> occupancy;
    bit<48> ingress_time;
    bit<48> egress_time;
}

parser EgressParser(
        packet_in packet,
        out egress_headers_t hdr,
        out egress_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        transition select(packet.lookahead<bit<8>>()) {
            KIND_DATA: parse_data;
            KIND_END:  parse_end;
            KIND_TIME: parse_time;
            default:   parse_hop;
        }
    }
    state parse_data {
        packet.extract(hdr.bridge);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);       // ingress lets nothing else pass
        transition select(hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0 &&& 1, 0, PROTOCOL_UDP): look_at_udp;
            default: accept;
        }
    }
    state look_at_udp {
        transition select(packet.lookahead<bit<32>>()[15:0]) {
            INT_PORT: parse_int;
            default: accept;
        }
    }
    state parse_int {
        packet.extract(hdr.int_udp);
        packet.extract(hdr.int_shim);
        packet.extract(hdr.int_md);
        transition accept;
    }
    state parse_end {
        packet.extract(hdr.bridge);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        transition accept;
    }
    state parse_time {
        packet.extract(hdr.time_mirror);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.int_udp);
        packet.extract(hdr.int_shim);
        transition select(hdr.int_shim.length) {
            11: count_1;
            19: count_2;
            27: count_3;
            35: count_4;
            default: count_0;
        }
    }
    state count_0 { md.stack_bytes = 12;  transition accept; }
    state count_1 { md.stack_bytes = 44;  transition accept; }
    state count_2 { md.stack_bytes = 76;  transition accept; }
    state count_3 { md.stack_bytes = 108; transition accept; }
    state count_4 { md.stack_bytes = 140; transition accept; }
    state parse_hop {
        packet.extract(hdr.hop_mirror);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

#endif
