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

// ---- Ingress ------------------------------------------------------------------------------

struct ingress_headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
    ipv4_h     ipv4;
    // INT, extracted to be taken out: the last hop is in front.
    udp_h      int_udp;
    int_shim_h int_shim;
    int_md_h   int_md;
    pushed_h   pushed_4;
    pushed_h   pushed_3;
    pushed_h   pushed_2;
    pushed_h   pushed_1;
    ports_h    ports;
}

struct ingress_metadata_t {
    bit<1>  is_edge;                // the packet leaves where INT is unknown
    bit<1>  too_long;               // it has more of INT than can be taken out
    bit<16> int_bytes;              // all that INT added
    bit<8>  kind;                   // of the copy
    bit<48> arrival;
    MirrorId_t session;
}

parser IngressParser(
        packet_in packet,
        out ingress_headers_t hdr,
        out ingress_metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        md.too_long = 0;
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
        // No fragments: with INT in the first only, the packet could not be put together again.
        transition select(hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0 &&& 1, 0, PROTOCOL_TCP): parse_ports;
            (0 &&& 1, 0, PROTOCOL_UDP): look_at_udp;
            default: accept;
        }
    }
    state look_at_udp {
        transition select(packet.lookahead<bit<32>>()[15:0]) {
            INT_PORT: look_at_int;
            default: parse_ports;
        }
    }
    state look_at_int {
        // The shim's length, behind the 8 bytes of UDP and a byte.
        transition select(packet.lookahead<bit<80>>()[7:0]) {
            3:  begin_0;
            11: begin_1;
            19: begin_2;
            27: begin_3;
            35: begin_4;
            default: note_too_long;
        }
    }
    state note_too_long {
        md.too_long = 1;
        transition accept;
    }
    // UDP, shim and INT-MD have 24 bytes, a hop 32. The parser counts: a shift and a sum of fields of
    // different widths would take stages.
    state begin_0 { md.int_bytes = 24;  transition parse_int; }
    state begin_1 { md.int_bytes = 56;  transition parse_int; }
    state begin_2 { md.int_bytes = 88;  transition parse_int; }
    state begin_3 { md.int_bytes = 120; transition parse_int; }
    state begin_4 { md.int_bytes = 152; transition parse_int; }
    state parse_int {
        packet.extract(hdr.int_udp);
        packet.extract(hdr.int_shim);
        packet.extract(hdr.int_md);
        transition select(hdr.int_shim.length) {
            11: parse_1;
            19: parse_2;
            27: parse_3;
            35: parse_4;
            default: accept;
        }
    }
    state parse_4 { packet.extract(hdr.pushed_4); transition parse_3; }
    state parse_3 { packet.extract(hdr.pushed_3); transition parse_2; }
    state parse_2 { packet.extract(hdr.pushed_2); transition parse_1; }
    state parse_1 { packet.extract(hdr.pushed_1); transition accept; }
    state parse_ports {
        packet.extract(hdr.ports);
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

    Hash<bit<16>>(HashAlgorithm_t.CRC16) entropy;

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // To the next hop: our address and its address on that link.
    action send(PortId_t port, bit<48> own, bit<48> next_hop) {
        ig_tm_md.ucast_egress_port = port;
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table routes {
        key = { hdr.ipv4.destination : lpm; }
        actions = { send; drop; }
        const default_action = drop();
        size = 1024;
    }

    action begin_int(bit<8> hops) {
        hdr.bridge.hops = hops;
    }

    // Filled at a source: the packets to watch.
    table watchlist {
        key = {
            hdr.ipv4.source      : ternary;
            hdr.ipv4.destination : ternary;
            hdr.ipv4.protocol    : ternary;
        }
        actions = { begin_int; NoAction; }
        const default_action = NoAction();
        size = 256;
    }

    action leave() {
        md.is_edge = 1;
    }

    // Filled at source and sink: ports with hosts, which know nothing of INT. A packet that goes there
    // ends INT if it has any, and does not begin it.
    table edges {
        key = { ig_tm_md.ucast_egress_port : exact; }
        actions = { leave; NoAction; }
        const default_action = NoAction();
        size = 512;
    }

    // The sink's part: the packet as it was before the source.
    action end_int() {
        hdr.bridge.kind = KIND_END;
        hdr.bridge.discard = hdr.int_md.discard;
        hdr.ipv4.protocol = hdr.int_shim.protocol;
        hdr.ipv4.total_length = hdr.ipv4.total_length - md.int_bytes;
        hdr.int_udp.setInvalid();
        hdr.int_shim.setInvalid();
        hdr.int_md.setInvalid();
        hdr.pushed_4.setInvalid();
        hdr.pushed_3.setInvalid();
        hdr.pushed_2.setInvalid();
        hdr.pushed_1.setInvalid();
        ig_dprsr_md.mirror_type = TIME_MIRROR;
        md.session = TIME_SESSION;
        md.kind = KIND_TIME;
        md.arrival = ig_intr_md.ingress_mac_tstamp;
    }
    apply {
        hdr.bridge.setValid();
        hdr.bridge.kind = KIND_DATA;
        hdr.bridge.hops = 0;
        hdr.bridge.unused = 0;
        hdr.bridge.discard = 0;
        hdr.bridge.unused_too = 0;
        md.is_edge = 0;
        hdr.bridge.ingress_port = (bit<16>)ig_intr_md.ingress_port;
        hdr.bridge.arrival = ig_intr_md.ingress_mac_tstamp;
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            routes.apply();
        } else {
            drop();
        }
        if (hdr.ports.isValid()) {
            hdr.bridge.entropy = entropy.get({ hdr.ipv4.source, hdr.ipv4.destination,
                hdr.ipv4.protocol, hdr.ports.source, hdr.ports.destination });
            watchlist.apply();
        }
        edges.apply();
        if (md.is_edge == 1) {
            hdr.bridge.hops = 0;
            if (hdr.int_shim.isValid()) {
                end_int();
            } else if (md.too_long == 1) {
                drop();
            }
        }
    }
}

control IngressDeparser(
        packet_out packet,
        inout ingress_headers_t hdr,
        in ingress_metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;
    Mirror() arrived;               // with its type in brackets, p4c refuses it in ingress

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        if (ig_dprsr_md.mirror_type == TIME_MIRROR) {
            arrived.emit<time_mirror_h>(md.session, { md.kind, md.arrival });
        }
        packet.emit(hdr);
    }
}

// ---- Egress -------------------------------------------------------------------------------

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

control Egress(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {

    Register<bit<32>, bit<1>>(1, 0) reports;        // sent so far by this pipe
    RegisterAction<bit<32>, bit<1>, bit<32>>(reports) next_report = {
        void apply(inout bit<32> value, out bit<32> sequence) {
            sequence = value;
            value = value + 1;
        }
    };
    bit<32> sequence;

    action number(bit<32> id) {
        md.node = id;
    }
    table this_node {
        actions = { number; }
        default_action = number(0);
        size = 1;
    }

    action measure() {
        md.ingress_port = hdr.bridge.ingress_port;
        md.egress_port = (bit<16>)eg_intr_md.egress_port;
        md.latency = eg_prsr_md.global_tstamp[31:0] - hdr.bridge.arrival[31:0];
        md.queue = (bit<8>)eg_intr_md.egress_qid;
        md.occupancy = (bit<24>)eg_intr_md.enq_qdepth;
        md.ingress_time = hdr.bridge.arrival;
        md.egress_time = eg_prsr_md.global_tstamp;
    }

    // The source's part: the headers that carry INT, and an empty stack.
    action begin_int() {
        hdr.int_udp.setValid();
        hdr.int_udp.source_port = hdr.bridge.entropy;
        hdr.int_udp.destination_port = INT_PORT;
        hdr.int_udp.length = hdr.ipv4.total_length + 4;     // - 20 + 8 + 4 + 12
        hdr.int_udp.checksum = 0;       // none, as the specification recommends
        hdr.int_shim.setValid();
        hdr.int_shim.type = INT_TYPE_MD;
        hdr.int_shim.npt = NPT_NEW_UDP;
        hdr.int_shim.reserved = 0;
        hdr.int_shim.length = INT_MD_WORDS;
        hdr.int_shim.reserved_too = 0;
        hdr.int_shim.protocol = hdr.ipv4.protocol;
        hdr.int_md.setValid();
        hdr.int_md.version = INT_VERSION;
        hdr.int_md.discard = 0;
        hdr.int_md.exceeded = 0;
        hdr.int_md.mtu_exceeded = 0;
        hdr.int_md.reserved = 0;
        hdr.int_md.hop_words = (bit<5>)HOP_WORDS;
        hdr.int_md.remaining_hops = hdr.bridge.hops;
        hdr.int_md.instructions = HOP_INSTRUCTIONS;
        hdr.int_md.domain = 0;
        hdr.int_md.domain_instructions = 0;
        hdr.int_md.domain_flags = 0;
        hdr.ipv4.total_length = hdr.ipv4.total_length + 24; // 8 + 4 + 12
        hdr.ipv4.protocol = PROTOCOL_UDP;
    }

    // Each hop's part: its measurement onto the stack.
    action push_hop() {
        hdr.int_md.remaining_hops = hdr.int_md.remaining_hops - 1;
        hdr.int_node.setValid();
        hdr.int_node.node = md.node;
        hdr.int_hop.setValid();
        hdr.int_hop.ingress_port = md.ingress_port;
        hdr.int_hop.egress_port = md.egress_port;
        hdr.int_hop.latency = md.latency;
        hdr.int_hop.queue = md.queue;
        hdr.int_hop.occupancy = md.occupancy;
        hdr.int_hop.ingress_time_high = 0;
        hdr.int_hop.ingress_time = md.ingress_time;
        hdr.int_hop.egress_time_high = 0;
        hdr.int_hop.egress_time = md.egress_time;
        hdr.int_shim.length = hdr.int_shim.length + HOP_WORDS;
        hdr.int_udp.length = hdr.int_udp.length + 32;
        hdr.ipv4.total_length = hdr.ipv4.total_length + 32;
    }

    // The sink's part: a copy with the measurement.
    action copy_hop() {
        eg_dprsr_md.mirror_type = HOP_MIRROR;
        md.session = HOP_SESSION;
        md.kind = KIND_HOP;
    }

    // What all reports have in front of their metadata.
    action begin_report() {
        hdr.report_group.setValid();
        hdr.report_group.version = 2;
        hdr.report_group.hardware = 0;
        hdr.report_group.node = md.node;
        hdr.report.setValid();
        hdr.report.type = 1;
        hdr.report.inner = 4;
        hdr.report.dropped = 0;
        hdr.report.congested = 0;
        hdr.report.tracked = 1;
        hdr.report.intermediate = 0;
        hdr.report.reserved = 0;
        hdr.report.domain = 0;
        hdr.report.domain_bits = 0;
        hdr.report.domain_status = 0;
        hdr.report_ipv4.setValid();
        hdr.report_ipv4.version = 4;
        hdr.report_ipv4.header_length = 5;
        hdr.report_ipv4.dscp = 0;
        hdr.report_ipv4.ecn = 0;
        hdr.report_ipv4.identification = 0;
        hdr.report_ipv4.flags = 2;      // do not fragment
        hdr.report_ipv4.fragment_offset = 0;
        hdr.report_ipv4.ttl = 64;
        hdr.report_ipv4.protocol = PROTOCOL_UDP;
        hdr.report_udp.setValid();
        hdr.report_udp.source_port = REPORT_PORT;
        hdr.report_udp.destination_port = REPORT_PORT;
        hdr.report_udp.checksum = 0;
    }
    action report_time() {
        hdr.report.length = hdr.int_shim.length + 14;
        hdr.report.metadata_words = 2;
        hdr.report.metadata_bits = REPORT_TIME;
        hdr.report_time.setValid();
        hdr.report_time.ingress_time_high = 0;
        hdr.report_time.ingress_time = hdr.time_mirror.arrival;
        hdr.report_udp.length = md.stack_bytes + (REPORT_UDP_BYTES + 56);
        hdr.report_ipv4.total_length = md.stack_bytes + (REPORT_IPV4_BYTES + 56);
    }
    action report_hop() {
        hdr.report.length = HOP_REPORT_WORDS;
        hdr.report.metadata_words = 7;
        hdr.report.metadata_bits = REPORT_HOP;
        hdr.report_hop.setValid();
        hdr.report_hop.ingress_port = hdr.hop_mirror.ingress_port;
        hdr.report_hop.egress_port = hdr.hop_mirror.egress_port;
        hdr.report_hop.latency = hdr.hop_mirror.latency;
        hdr.report_hop.queue = hdr.hop_mirror.queue;
        hdr.report_hop.occupancy = hdr.hop_mirror.occupancy;
        hdr.report_hop.ingress_time_high = 0;
        hdr.report_hop.ingress_time = hdr.hop_mirror.ingress_time;
        hdr.report_hop.egress_time_high = 0;
        hdr.report_hop.egress_time = hdr.hop_mirror.egress_time;
        hdr.report_udp.length = REPORT_UDP_BYTES + (HOP_REPORT_WORDS << 2);
        hdr.report_ipv4.total_length = REPORT_IPV4_BYTES + (HOP_REPORT_WORDS << 2);
    }

    // Filled at a sink: this switch's addresses on the collector's link, and the collector's.
    action report_to(bit<48> own, bit<48> next_hop, bit<32> source, bit<32> collector) {
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.report_ipv4.source = source;
        hdr.report_ipv4.destination = collector;
    }
    action drop() {
        eg_dprsr_md.drop_ctl = 1;
    }
    table collector {
        actions = { report_to; drop; }
        default_action = drop();
        size = 1;
    }

    apply {
        this_node.apply();
        if (hdr.bridge.isValid()) {
            measure();
            if (hdr.bridge.kind == KIND_END) {
                copy_hop();
                if (hdr.bridge.discard == 1) {
                    drop();
                }
            } else {
                if (hdr.bridge.hops != 0) {
                    begin_int();
                }
                if (hdr.int_md.isValid()) {
                    if (hdr.int_md.remaining_hops == 0) {
                        hdr.int_md.exceeded = 1;
                    } else if (hdr.int_md.version == INT_VERSION && hdr.int_shim.type == INT_TYPE_MD
                            && hdr.int_md.instructions == HOP_INSTRUCTIONS
                            && hdr.int_md.domain_instructions == 0) {
                        push_hop();
                    }
                }
            }
        } else {
            begin_report();
            sequence = next_report.execute(0);
            hdr.report_group.sequence = sequence[21:0];
            if (hdr.time_mirror.isValid()) {
                report_time();
            } else {
                report_hop();
            }
            collector.apply();
        }
        hdr.bridge.setInvalid();
        hdr.time_mirror.setInvalid();
        hdr.hop_mirror.setInvalid();
    }
}

control EgressDeparser(
        packet_out packet,
        inout egress_headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Checksum() ipv4_checksum;
    Checksum() report_checksum;
    Mirror(HOP_MIRROR) measured;

    apply {
        if (hdr.report_ipv4.isValid()) {
            hdr.report_ipv4.header_checksum = report_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.report_ipv4));
        }
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        if (eg_dprsr_md.mirror_type == HOP_MIRROR) {
            measured.emit<hop_mirror_h>(md.session, {
                md.kind, md.ingress_port, md.egress_port, md.latency, md.queue, md.occupancy,
                md.ingress_time, md.egress_time });
        }
        packet.emit(hdr);
    }
}

#include "common/switch.p4"
