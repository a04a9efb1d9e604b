// Ingress of a small IP router that knows the queue before a packet joins it, for Tofino 2.
//
//   traffic manager -> ghost: depth of a queue -> [queue_depth]
//                                                      |
//   Ethernet, IPv4 or IPv6 -> route -> queue number -> depth -> delay to come -> AQM -> queue
//
//   stage  does
//     0    route, time to live - 1; the time; ghost: queue number
//     1    queue number; random numbers, if the AQM wants some
//     2   [queue_depth]: ghost writes, ingress reads
//     3    delay: the time that a packet waits behind this depth
//
// Each depth report comes to ghost twice. The compiler makes two copies of queue_depth and of what
// uses it: ghost writes one while ingress reads the other, so neither waits.
//
// A depth is no time. The control plane says how long the queue takes to send it: `queue_delay` has
// an entry for each depth, computed from LINK_RATE. The time that the packet in transmission still
// takes is not known; half a full frame stands for it. Egress is skipped.
//
// A program includes this file and an AQM; its control Ingress applies RouteAndDelay and then the AQM.
#ifndef COMMON_GHOST_DEPTH_P4
#define COMMON_GHOST_DEPTH_P4

#include <t2na.p4>
#include "../../tna/common/chip.p4"
#include "../../tna/common/headers.p4"
#include "../../tna/common/ip.p4"

#ifndef LINK_RATE
#define LINK_RATE       100000000       // bit/s that the queue is sent with, framing included
#endif
#ifndef GHOST_RATE
#define GHOST_RATE      LINK_RATE       // the rate that delays are computed from
#endif
#ifndef GHOST_CELLS
#define GHOST_CELLS     2               // cells of 176 bytes in one unit of qlength
#endif
// A full frame takes 1538 bytes of the line and 9 cells.
#ifndef GHOST_BITS
#define GHOST_BITS      (GHOST_CELLS * 1538 * 8 / 9)
#endif
#ifndef GHOST_DEPTHS
#define GHOST_DEPTHS    16384           // depths with an entry of their own
#endif

// The control plane reads them: from them the entries of queue_delay are computed.
const bit<64> GHOST_LINK_RATE = GHOST_RATE;     // bit/s
const bit<64> GHOST_UNIT_BITS = GHOST_BITS;     // on the line in one unit of depth
// Half a full frame, and half a cell for depths that are rounded down.
const bit<64> GHOST_BITS_AHEAD = 769 * 8 + (GHOST_CELLS - 1) * 683;

// Index of the state of a queue: pipe, port group, queue of the group.
#define GHOST_QUEUE_NUMBER(md)   { 3w0, md.pipe_id, md.qid }
#define INGRESS_QUEUE_NUMBER(md) { 3w0, md.ucast_egress_port, md.qid[3:0] }

// Written by ghost, read by ingress.
Register<bit<32>, bit<16>>(QUEUE_STATES) queue_depth;

control Ghost(in ghost_intrinsic_metadata_t report) {

    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) queue_number;
    bit<16> queue;

    RegisterAction<bit<32>, bit<16>, bit<32>>(queue_depth) depth_write = {
        void apply(inout bit<32> state) { state = (bit<32>)report.qlength; }
    };
    action compute_queue() { queue = queue_number.get(GHOST_QUEUE_NUMBER(report)); }
    action write_depth() { depth_write.execute(queue); }
    // A table of its own, so that the compiler duplicates it.
    table store_depth {
        actions = { write_depth; }
        const default_action = write_depth();
        size = 1;
    }

    apply {
        compute_queue();
        store_depth.apply();
    }
}

struct ghost_headers_t {
#ifdef SYNCHRONISATION_HEADER
    SYNCHRONISATION_HEADER sync;
#endif
    ethernet_h ethernet;
    ipv4_h     ipv4;
    ipv6_h     ipv6;
}

parser IngressParser(
        packet_in packet,
        out ghost_headers_t hdr,
        out ingress_metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
#ifdef SYNCHRONISATION_HEADER
        transition select(ig_intr_md.resubmit_flag) {
            1: parse_resubmitted;
            default: parse_port_metadata;
        }
    }
    state parse_resubmitted {
        packet.extract(hdr.sync);
        transition accept;
    }
    state parse_port_metadata {
#endif
        packet.advance(PORT_METADATA_SIZE);
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
        transition accept;
    }
    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}

#define GHOST_INGRESS_PARAMETERS \
        inout ghost_headers_t hdr, \
        inout ingress_metadata_t md, \
        in ingress_intrinsic_metadata_t ig_intr_md, \
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md, \
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md, \
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md, \
        in ghost_intrinsic_metadata_t report

// Routes a packet and says how long it is going to wait.
control RouteAndDelay(
        inout ghost_headers_t hdr,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md,
        out bit<16> queue,              // index of the state of the packet's queue
        out bit<32> depth,              // its depth in units of qlength
        out bit<32> delay) {            // ns, the sojourn time to come

    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) queue_number;

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }
    action send_ipv4(PortId_t port, QueueId_t queue, bit<48> own, bit<48> next_hop) {
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.qid = queue;
        ig_tm_md.bypass_egress = 1;
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    action send_ipv6(PortId_t port, QueueId_t queue, bit<48> own, bit<48> next_hop) {
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.qid = queue;
        ig_tm_md.bypass_egress = 1;
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

    action compute_queue() { queue = queue_number.get(INGRESS_QUEUE_NUMBER(ig_tm_md)); }

    RegisterAction<bit<32>, bit<16>, bit<32>>(queue_depth) depth_read = {
        void apply(inout bit<32> state, out bit<32> word) { word = state; }
    };
    action read_depth() { depth = depth_read.execute(queue); }
    // A table of its own, so that the compiler duplicates it.
    table load_depth {
        actions = { read_depth; }
        const default_action = read_depth();
        size = 1;
    }

    action set_delay(bit<32> ns) { delay = ns; }
    action wait_longest() { delay = 2000000000; }
    table queue_delay {
        key = { depth : exact; }
        actions = { set_delay; @defaultonly wait_longest; }
        const default_action = wait_longest();
        size = GHOST_DEPTHS;
    }

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            route_ipv4.apply();
        } else if (hdr.ipv6.isValid() && hdr.ipv6.hop_limit > 1) {
            route_ipv6.apply();
        } else {
            drop();
        }
        compute_queue();
        load_depth.apply();
        queue_delay.apply();
    }
}

// ---- Egress, which packets skip -------------------------------------------------------------

struct empty_t { }

parser EgressParser(
        packet_in packet,
        out empty_t hdr,
        out empty_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(
        inout empty_t hdr,
        inout empty_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply { }
}

control EgressDeparser(
        packet_out packet,
        inout empty_t hdr,
        in empty_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply { }
}

#endif
