// Ingress of a small IP router that notes the time.
//
//   Ethernet, IPv4 or IPv6 -> route (longest prefix) -> time to live - 1 -> bridge header -> queue
//
// Stage 0 does it all: the two routing tables exclude each other, and nothing waits for anything.
// What is not IP, has IPv4 options, no route or no time left is dropped; a real router would hand
// it to its CPU.
//
// The bridge header carries the time of arrival twice, because the two cuts of one 48-bit field
// that egress needs overlap, and a field can be cut in one way only.
//
// With FLOW_QUEUES defined, the queue is not the route's but the flow's: flow_queue.p4, a stage later.
// With L4S_QUEUES, the low bit of the ECN field chooses it, a stage later (RFC 9331, section 5.1).
// With GENERATED_KIND, packets of the packet generator go to queue 0 of the port that they name.
#ifndef COMMON_L3_INGRESS_P4
#define COMMON_L3_INGRESS_P4

#include "headers.p4"
#include "ip.p4"
#ifdef FLOW_QUEUES
#include "flow_queue.p4"
#endif

#ifdef L4S_QUEUES
const QueueId_t CLASSIC_QUEUE = 0;
const QueueId_t L4S_QUEUE     = 1;
#endif

#ifdef FLOW_QUEUES
#define SET_QUEUE(queue)                // flow_queue.p4 does
#else
#define SET_QUEUE(queue) ig_tm_md.qid = queue;
#endif

// Set in front of each packet by the ingress deparser, taken off by the egress parser. 9 bytes.
header bridge_h {
    bit<8>  kind;                       // KIND_DATA
    bit<32> arrival;                    // ns, global_tstamp[31:0] of the ingress parser
    bit<32> arrival_epoch;              // 65.536 us, global_tstamp[47:16]
}

#ifdef GENERATED_KIND
// Start of a generated packet's contents.
header generated_h {
    bit<16> port;                       // where to go
}
#endif

struct ingress_headers_t {
    bridge_h   bridge;
#ifdef GENERATED_KIND
    pktgen_timer_header_t timer;
    generated_h generated;
#endif
    ethernet_h ethernet;
    ipv4_h     ipv4;
    ipv6_h     ipv6;
#ifdef FLOW_QUEUES
    ports_h    ports;
#endif
}

struct ingress_metadata_t {
#ifdef FLOW_QUEUES
    bit<16> source_port;                // 0: the packet has none
    bit<16> destination_port;
#endif
}

parser IngressParser(
        packet_in packet,
        out ingress_headers_t hdr,
        out ingress_metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
#ifdef GENERATED_KIND
        transition select(ig_intr_md.ingress_port) {
            GENERATOR_PORT: parse_generated;
            default: parse_ethernet;
        }
    }
    state parse_generated {
        packet.extract(hdr.timer);
        packet.extract(hdr.generated);
        transition accept;
    }
    state parse_ethernet {
#endif
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: look_at_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
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
#ifdef FLOW_QUEUES
        // A fragment has no ports, not even the first one: all of a packet stay together.
        transition select(hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0 &&& 1, 0, PROTOCOL_TCP): parse_ports;
            (0 &&& 1, 0, PROTOCOL_UDP): parse_ports;
            default: accept;
        }
    }
    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP: parse_ports;
            PROTOCOL_UDP: parse_ports;
            default: accept;
        }
    }
    state parse_ports {
        packet.extract(hdr.ports);
        md.source_port = hdr.ports.source;
        md.destination_port = hdr.ports.destination;
#else
        transition accept;
    }
    state parse_ipv6 {
        packet.extract(hdr.ipv6);
#endif
        transition accept;
    }
}

control Ingress(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // To the next hop: our address and its address on that link.
    action send_ipv4(PortId_t port, QueueId_t queue, bit<48> own, bit<48> next_hop) {
        ig_tm_md.ucast_egress_port = port;
        SET_QUEUE(queue)
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    action send_ipv6(PortId_t port, QueueId_t queue, bit<48> own, bit<48> next_hop) {
        ig_tm_md.ucast_egress_port = port;
        SET_QUEUE(queue)
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    // Filled by the control plane.
    table route_ipv4 {
        key = { hdr.ipv4.destination : lpm; }
        actions = { send_ipv4; drop; }
        const default_action = drop();
        size = 1024;
    }
    table route_ipv6 {
        key = { hdr.ipv6.destination : lpm; }
        actions = { send_ipv6; drop; }
        const default_action = drop();
        size = 512;
    }

#ifdef GENERATED_KIND
    action send_generated() {
        ig_tm_md.ucast_egress_port = (PortId_t)hdr.generated.port;
        hdr.bridge.kind = GENERATED_KIND;
        hdr.timer.setInvalid();
        hdr.generated.setInvalid();
    }
#endif

    apply {
        hdr.bridge.setValid();
        hdr.bridge.kind = KIND_DATA;
        hdr.bridge.arrival = ig_prsr_md.global_tstamp[31:0];
        hdr.bridge.arrival_epoch = ig_prsr_md.global_tstamp[47:16];
#ifdef GENERATED_KIND
        if (hdr.generated.isValid()) {
            send_generated();
        } else
#endif
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            route_ipv4.apply();
        } else if (hdr.ipv6.isValid() && hdr.ipv6.hop_limit > 1) {
            route_ipv6.apply();
        } else {
            drop();
        }
#ifdef FLOW_QUEUES
        FlowQueue.apply(hdr.ipv4, hdr.ipv6, md.source_port, md.destination_port, ig_tm_md.qid);
#endif
#ifdef L4S_QUEUES
        if (hdr.ipv4.isValid() && hdr.ipv4.ecn[0:0] == 1) {
            ig_tm_md.qid = L4S_QUEUE;
        } else if (hdr.ipv6.isValid() && hdr.ipv6.ecn[0:0] == 1) {
            ig_tm_md.qid = L4S_QUEUE;
        }
#endif
    }
}

control IngressDeparser(
        packet_out packet,
        inout ingress_headers_t hdr,
        in ingress_metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        packet.emit(hdr);
    }
}

#endif
