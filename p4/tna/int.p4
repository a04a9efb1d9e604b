// A router with In-band Network Telemetry (INT 2.1, INT-MD): 3 stages of ingress, 4 of egress.
//
//   Ingress   routes; is the packet to be watched (source), does it leave the INT network (sink)?
//             sink: the packet as it arrived -> mirror session 1 ------------------+
//             sink: all of INT out of the packet                                   |
//        queue                                                                     |
//   Egress    source: UDP, shim and INT-MD between IP and transport                |
//             source, transit: this hop's node, ports, queue, times on the stack   |
//             sink: the packet -> mirror session 2 --------------------------------+
//        port                                                                      v
//             mirrored copies: a Telemetry Report around each -> the collector's port
//
// Source, transit and sink in one program; the control plane chooses by Ingress.watchlist and
// Ingress.edges, and gives the switch its number (Egress.this_node) and the collector's address
// (Egress.collector). The headers are those of ../int/headers.p4. A stack without the instructions of
// this program stays as it is, which INT allows a hop; a sink takes out stacks of up to 4 hops, and drops
// packets with more. Ingress takes them out, because an egress parser reads no further than 160 bytes.
//
// A byte in front of each packet tells egress which of the four kinds of packet it has. Tofino cannot cut
// a packet in egress, so the mirror sessions do, and bytes behind a report's IP length are padding.
// Queue occupancy is in cells of 80 bytes. Must not depend on a queue management.
#include <core.p4>
#include "common/chip.p4"
#include "common/headers.p4"
#include "common/ip.p4"
#include "../int/headers.p4"

const bit<8> KIND_END    = 1;       // a packet whose INT ends in this switch
const bit<8> KIND_TIME   = 2;       // a copy of ingress: to be a report with the stack
const bit<8> KIND_HOP    = 3;       // a copy of egress: to be a report with this switch's hop

const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

const MirrorType_t TIME_MIRROR  = 1;
const MirrorType_t HOP_MIRROR   = 2;
const MirrorId_t   TIME_SESSION = 1;
const MirrorId_t   HOP_SESSION  = 2;

header udp_h {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

header ports_h {
    bit<16> source;
    bit<16> destination;
}

// From ingress to egress. 14 bytes.
header bridge_h {
    bit<8>  kind;                   // KIND_DATA or KIND_END
    bit<8>  hops;                   // that a source allows; 0: INT does not begin here
    bit<4>  unused;                 // D stands in a byte where INT-MD has it
    bit<1>  discard;                // D: the sink drops the packet
    bit<3>  unused_too;
    bit<16> entropy;                // the UDP source port of a source
    bit<16> ingress_port;
    bit<48> arrival;                // ns
}

// What a hop pushed: int_node_h and int_hop_h.
header pushed_h {
    bit<256> words;
}

// In front of the copies. 7 and 25 bytes.
header time_mirror_h {
    bit<8>  kind;
    bit<48> arrival;
}

header hop_mirror_h {
    bit<8>  kind;
    bit<16> ingress_port;
    bit<16> egress_port;
    bit<32> latency;
    bit<8>  queue;
    bit<24> occupancy;
    bit<48> ingress_time;
    bit<48> egress_time;
}

#include "int/ingress.p4"
#include "int/egress_parser.p4"
#include "int/egress.p4"

#include "common/switch.p4"
