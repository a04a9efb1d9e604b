// The switch of HPCC (Li et al., SIGCOMM 2019) for bmv2: a router that writes what its link does into packets.
//
//   HpccIngress   routes; to egress: the rate of the link
//   queue
//   HpccEgress    counts the bytes of each port; a packet with INT-MD gets the hop on top of its stack
//
// HPCC's hosts are INT's source and sink (`congestion_control = "hpcc"`). A hop has 20 bytes: queue
// occupancy in bytes and egress time in ns; of the domain "HP" the bytes that the port has sent and the rate
// of its link in Mbit/s. scenarios/hpcc/hpcc.p4 is the same for Tofino. bmv2 counts packets, not bytes, so
// each packet in the queue counts as HPCC_PACKET bytes, and its clock has microseconds: at 1 Gbit/s a full
// packet takes 12 of them. Only TCP is measured. A returned stack is of INT's destination type and stays as it is.
//
// Control plane: hpcc.toml has a route for each host with the rate of the link. Must not depend on a queue
// management.
#include <core.p4>
#include <v1model.p4>

#include "common/headers.p4"
#include "common/units.p4"
#include "../int/md.p4"

const bit<16> HPCC_INSTRUCTIONS = 0x1400;           // queue, egress time
const bit<16> HPCC_DOMAIN = 0x4850;                 // "HP"
const bit<16> HPCC_DOMAIN_INSTRUCTIONS = 0xc000;    // bytes sent, rate
const bit<8>  HPCC_WORDS = 5;                       // of a hop
const bit<16> HPCC_BYTES = 20;
const bit<32> HPCC_PACKET = 1518;
const bit<32> ETHERNET_BYTES = 38;                  // of a frame on the wire: preamble and gap included

header hpcc_hop_h {                                 // 20 bytes
    bit<8>  queue;
    bit<24> occupancy;                              // bytes
    bit<16> egress_time_high;
    bit<48> egress_time;                            // ns
    bit<32> sent;                                   // bytes, modulo 2^32
    bit<32> rate;                                   // Mbit/s
}

struct headers_t {
    ethernet_h     ethernet;
    ipv4_h         ipv4;
    ipv4_options_h ipv4_options;
    udp_h          int_udp;
    int_shim_h     int_shim;
    int_md_h       int_md;
    hpcc_hop_h     hop;                             // this switch's
}

struct metadata_t {
    bit<32> rate;                                   // of the link, Mbit/s
}

#include "common/checksum.p4"

error { NotIpv4 }

// ---- Parser -----------------------------------------------------------------------------------

parser HpccParser(
        packet_in packet,
        out headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {

    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.header_length >= 5, error.NotIpv4);
        transition select(hdr.ipv4.header_length) {
            5: behind_ipv4;
            default: parse_ipv4_options;
        }
    }
    state parse_ipv4_options {
        packet.extract(hdr.ipv4_options, ((bit<32>)hdr.ipv4.header_length - 5) << 5);
        transition accept;
    }
    state behind_ipv4 {
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, PROTOCOL_UDP): look_at_udp;
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
}

// ---- Ingress ----------------------------------------------------------------------------------

control HpccIngress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // To the next hop, by a link of so many Mbit/s.
    action send(bit<9> port, bit<48> own, bit<48> next_hop, bit<32> rate) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        md.rate = rate;
    }

    // Filled by the control plane.
    table routes {
        key = { hdr.ipv4.destination : lpm; }
        actions = { send; drop; }
        default_action = drop();
        size = 1024;
    }

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1
                && standard_metadata.parser_error == error.NoError
                && standard_metadata.checksum_error == 0) {
            routes.apply();
        } else {
            drop();
        }
    }
}

// ---- Egress -----------------------------------------------------------------------------------

control HpccEgress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {

    // Bytes that each port's link has carried.
    REGISTER(bit<32>)(512) bytes_sent;

    // This switch's measurement onto the stack.
    action push_hop() {
        hdr.hop.setValid();
        hdr.hop.queue = 0;
        hdr.hop.occupancy = (bit<24>)((bit<32>)standard_metadata.deq_qdepth * HPCC_PACKET);
        hdr.hop.egress_time_high = 0;
        hdr.hop.egress_time = standard_metadata.egress_global_timestamp * 1000;
        hdr.hop.rate = md.rate;
        hdr.int_md.remaining_hops = hdr.int_md.remaining_hops - 1;
        hdr.int_shim.length = hdr.int_shim.length + HPCC_WORDS;
        hdr.int_udp.length = hdr.int_udp.length + HPCC_BYTES;
        hdr.ipv4.total_length = hdr.ipv4.total_length + HPCC_BYTES;
    }

    apply {
        if (hdr.int_md.isValid() && hdr.int_shim.type == INT_TYPE_MD
                && hdr.int_shim.protocol == PROTOCOL_TCP) {
            if (hdr.int_md.remaining_hops == 0) {
                hdr.int_md.exceeded = 1;
            } else if (hdr.int_md.version == INT_VERSION
                    && hdr.int_md.instructions == HPCC_INSTRUCTIONS
                    && hdr.int_md.domain == HPCC_DOMAIN
                    && hdr.int_md.domain_instructions == HPCC_DOMAIN_INSTRUCTIONS) {
                push_hop();
            }
        }
        bit<32> sent;
        bytes_sent.read(sent, (bit<32>)standard_metadata.egress_port);
        sent = sent + (bit<32>)hdr.ipv4.total_length + ETHERNET_BYTES;
        bytes_sent.write((bit<32>)standard_metadata.egress_port, sent);
        if (hdr.hop.isValid()) {
            hdr.hop.sent = sent;
        }
    }
}

// ---- Deparser ---------------------------------------------------------------------------------

control HpccDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.int_udp);
        packet.emit(hdr.int_shim);
        packet.emit(hdr.int_md);
        packet.emit(hdr.hop);
    }
}

V1Switch(HpccParser(), RouterVerify(), HpccIngress(), HpccEgress(), RouterUpdate(),
         HpccDeparser()) main;
