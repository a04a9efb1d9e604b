// The switch of HPCC (Li et al., SIGCOMM 2019): a router that writes its queue, time and bytes sent into packets.
//
//   Ingress   routes; to egress: the rate of the link
//   Egress    counts the bytes of each port; a packet with INT-MD gets the hop on top of its stack
//
// HPCC's hosts are INT's source and sink (crates/net/src/wire/telemetry.rs): a data packet comes with
// instructions for 20 bytes a hop. Baseline: queue occupancy, here in bytes, and egress time in ns. Of the
// domain "HP": bytes that the port has sent, and the rate of its link in Mbit/s, as INT 2.1 has neither.
// A returned stack is of INT's destination type and stays as it is. Must not depend on a queue management.
#include <core.p4>
#include "common/chip.p4"
#include "common/headers.p4"
#include "common/ip.p4"
#include "../int/md.p4"

const bit<16> HPCC_INSTRUCTIONS = 0x1400;       // queue, egress time
const bit<16> HPCC_DOMAIN = 0x4850;             // "HP"
const bit<16> HPCC_DOMAIN_INSTRUCTIONS = 0xc000; // bytes sent, rate
const bit<8>  HPCC_WORDS = 5;                   // of a hop
const bit<16> HPCC_BYTES = 20;
const bit<8>  PROTOCOL_UDP = 17;

header udp_h {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

// From ingress to egress. 4 bytes.
header bridge_h {
    bit<32> rate;
}

header hpcc_hop_h {                     // 20 bytes
    bit<32> occupancy;                  // 8 bits of the queue's number, which is 0 here, and 24 of bytes
    bit<16> egress_time_high;
    bit<48> egress_time;                // ns
    bit<32> sent;                       // bytes, modulo 2^32
    bit<32> rate;                       // Mbit/s
}

struct headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
    ipv4_h     ipv4;
    udp_h      int_udp;
    int_shim_h int_shim;
    int_md_h   int_md;
    hpcc_hop_h hop;                     // this switch's
}

struct metadata_t {
    bit<16> length;                     // of the frame, with this hop
    bit<32> sent;
    bit<32> cells;                      // in the queue
    bit<32> by_64;
    bit<32> by_16;
}

// ---- Ingress ----------------------------------------------------------------------------------

parser IngressParser(
        packet_in packet,
        out headers_t hdr,
        out metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: look_at_ipv4;
            default: accept;
        }
    }
    state look_at_ipv4 {
        // Version and header length: 20 bytes, no options.
        transition select(packet.lookahead<bit<8>>()) {
            0x45: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control Ingress(
        inout headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // To the next hop, by a link of so many Mbit/s.
    action send(PortId_t port, bit<48> own, bit<48> next_hop, bit<32> rate) {
        ig_tm_md.ucast_egress_port = port;
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.bridge.rate = rate;
    }

    table routes {
        key = { hdr.ipv4.destination : lpm; }
        actions = { send; drop; }
        const default_action = drop();
        size = 1024;
    }

    apply {
        hdr.bridge.setValid();
        hdr.bridge.rate = 0;
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            routes.apply();
        } else {
            drop();
        }
    }
}

control IngressDeparser(
        packet_out packet,
        inout headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        packet.emit(hdr);
    }
}

// ---- Egress -----------------------------------------------------------------------------------

parser EgressParser(
        packet_in packet,
        out headers_t hdr,
        out metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        packet.extract(hdr.bridge);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);       // ingress lets nothing else pass
        transition select(hdr.ipv4.protocol) {
            PROTOCOL_UDP: look_at_udp;
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

control Egress(
        inout headers_t hdr,
        inout metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {

    // Bytes that each port's link has carried: 38 of a frame are Ethernet's, preamble and gap included.
    Register<bit<32>, PortId_t>(512, 0) bytes_sent;
    RegisterAction<bit<32>, PortId_t, bit<32>>(bytes_sent) count = {
        void apply(inout bit<32> value, out bit<32> sent) {
            value = value + (bit<32>)md.length;
            sent = value;
        }
    };

    action push_hop() {
        hdr.hop.setValid();
        hdr.hop.occupancy = md.by_64;
        hdr.hop.egress_time_high = 0;
        hdr.hop.egress_time = eg_prsr_md.global_tstamp;
        hdr.hop.rate = hdr.bridge.rate;
        hdr.int_md.remaining_hops = hdr.int_md.remaining_hops - 1;
        hdr.int_shim.length = hdr.int_shim.length + HPCC_WORDS;
        hdr.int_udp.length = hdr.int_udp.length + HPCC_BYTES;
        hdr.ipv4.total_length = hdr.ipv4.total_length + HPCC_BYTES;
    }
    // A cell has 80 bytes: 64 and 16 for each.
    action read_queue() {
        md.cells = (bit<32>)eg_intr_md.deq_qdepth;
        md.length = hdr.ipv4.total_length;
    }
    action multiply() {
        md.by_64 = md.cells << 6;
        md.by_16 = md.cells << 4;
        md.length = md.length + 38;
    }
    action add_up() {
        md.by_64 = md.by_64 + md.by_16;
    }
    action add_hop() {
        md.length = md.length + 20;
    }

    apply {
        read_queue();
        multiply();
        add_up();
        if (hdr.int_md.isValid() && hdr.int_shim.type == INT_TYPE_MD) {
            if (hdr.int_md.remaining_hops == 0) {
                hdr.int_md.exceeded = 1;
            } else if (hdr.int_md.version == INT_VERSION
                    && hdr.int_md.instructions == HPCC_INSTRUCTIONS) {
                if (hdr.int_md.domain == HPCC_DOMAIN
                        && hdr.int_md.domain_instructions == HPCC_DOMAIN_INSTRUCTIONS) {
                    push_hop();
                    add_hop();
                }
            }
        }
        md.sent = count.execute(eg_intr_md.egress_port);
        if (hdr.hop.isValid()) {
            hdr.hop.sent = md.sent;
        }
        hdr.bridge.setInvalid();
    }
}

control EgressDeparser(
        packet_out packet,
        inout headers_t hdr,
        in metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        packet.emit(hdr);
    }
}

#include "common/switch.p4"
