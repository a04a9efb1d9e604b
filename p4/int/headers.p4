// Headers of In-band Network Telemetry: INT 2.1 in its MD mode, and Telemetry Report 2.0.
//
// INT-MD (INT specification 2.1, sections "INT over TCP/UDP" and "INT-MD Metadata Header Format"): each
// switch on the way pushes what it measured into the packet. The source puts a UDP header of its own
// between IP and the transport (NPT 2), so that the packet's TCP or UDP checksum stays right:
//
//   Ethernet | IPv4 | UDP to INT_PORT | shim | INT-MD | last hop ... first hop | TCP or UDP | payload
//
// The sink takes all of it out again, and sends what it found to a collector (Telemetry Report
// specification 2.0, "Telemetry Report Format"), in two reports a packet:
//
//   Ethernet | IPv4 | UDP to REPORT_PORT | group | report | time of arrival | the packet's head, stack included
//   Ethernet | IPv4 | UDP to REPORT_PORT | group | report | the sink's own hop | the packet's head
//
// The sink's ingress makes the first and its egress the second, because only egress knows the queue.
// Both have the packet's time of arrival at the sink, by which the collector joins them ("Embedded
// Telemetry Metadata In Stacked Reports"). Times are nanoseconds. Must not depend on an architecture.
#ifndef INT_HEADERS_P4
#define INT_HEADERS_P4

#include "md.p4"

#ifndef REPORT_PORT
#define REPORT_PORT 32766
#endif

const bit<2>  NPT_NEW_UDP      = 2;         // the original transport follows the stack
const bit<8>  INT_MD_WORDS     = 3;         // of 32 bits: int_md_h
const bit<8>  HOP_WORDS        = 8;         // int_node_h and int_hop_h
// Node, interfaces, hop latency, queue, ingress and egress time: bits 0 to 5 from the left.
const bit<16> HOP_INSTRUCTIONS = 0xfc00;

header int_node_h {                         // 4 bytes
    bit<32> node;
}

header int_hop_h {                          // 28 bytes
    bit<16> ingress_port;
    bit<16> egress_port;
    bit<32> latency;                        // ns, from ingress to egress
    bit<8>  queue;
    bit<24> occupancy;                      // of the queue, when the packet entered it
    bit<16> ingress_time_high;              // a time has 64 bits, of which switches have 48
    bit<48> ingress_time;
    bit<16> egress_time_high;
    bit<48> egress_time;
}

header report_group_h {                     // 8 bytes
    bit<4>  version;                        // 2
    bit<6>  hardware;                       // subsystem of the node
    bit<22> sequence;                       // of the node's reports: a gap is a lost report
    bit<32> node;
}

header report_h {                           // 12 bytes
    bit<4>  type;                           // 1: INT
    bit<4>  inner;                          // 4: an IPv4 packet's head follows the metadata
    bit<8>  length;                         // words behind the first, the head included
    bit<8>  metadata_words;
    bit<1>  dropped;                        // D
    bit<1>  congested;                      // Q
    bit<1>  tracked;                        // F: the packet matched a watchlist
    bit<1>  intermediate;                   // I
    bit<4>  reserved;
    bit<16> metadata_bits;                  // REPORT_TIME or REPORT_HOP
    bit<16> domain;
    bit<16> domain_bits;
    bit<16> domain_status;
}

const bit<16> REPORT_TIME = 0x0800;         // ingress time
const bit<16> REPORT_HOP  = 0x7c00;         // all of int_hop_h

header report_time_h {                      // 8 bytes
    bit<16> ingress_time_high;
    bit<48> ingress_time;
}

// Words of a report: fixed part without its first word, metadata, head. A head is IPv4's 20 bytes and the
// first 8 of the transport, where ports are; in front of them UDP, shim, and what the shim counts.
#define TIME_REPORT_WORDS(shim) (2 + 2 + 7 + 3 + (shim).length)
#define HOP_REPORT_WORDS        (2 + 7 + 7)
// Bytes of a report: UDP, group and first word; IPv4 before.
#define REPORT_UDP_BYTES        20
#define REPORT_IPV4_BYTES       40

#endif
