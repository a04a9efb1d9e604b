// A router with In-band Network Telemetry (INT 2.1, INT-MD): source, transit and sink in one program.
//
//   IntIngress   routes; is the packet to be watched (source), does it leave the INT network (sink)?
//                sink: the packet as it arrived -> clone session 1 -------------------+
//        queue                                                                        |
//   IntEgress    source: UDP, shim and INT-MD between IP and transport                |
//                source, transit: this hop's node, ports, queue, times on the stack   |
//                sink: all of it out; the packet -> clone session 1 ------------------+
//        port                                                                         v
//   IntReport    the clones' egress: a Telemetry Report around each -> the collector's port
//
// The control plane makes a switch a source, a sink or both:
//   watchlist    packets that a source begins INT with
//   edges        ports at whose other end INT is unknown: what leaves there ends INT
//   this_node, collector    number of the switch, and where reports go
//
// INT is for IPv4 without options, unfragmented, with TCP or UDP; everything else is routed as it is. A
// stack whose instructions this program does not know stays as it is, which INT allows a hop.
// Queue occupancy is in packets. Must not depend on a queue management.
#include <core.p4>
#include <v1model.p4>

#include "common/headers.p4"
#include "common/units.p4"
#include "../int/headers.p4"

const bit<32> REPORT_SESSION = 1;

// standard_metadata.instance_type
const bit<32> INGRESS_CLONE = 1;
const bit<32> EGRESS_CLONE  = 2;

header ports_h {
    bit<16> source;
    bit<16> destination;
}

header int_stack_h {
    varbit<8064> hops;                  // those before: 252 words, what a shim can count at most
}

struct headers_t {
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
    ipv4_options_h ipv4_options;
    udp_h          int_udp;
    int_shim_h     int_shim;
    int_md_h       int_md;
    int_node_h     int_node;            // this switch's
    int_hop_h      int_hop;
    int_stack_h    int_stack;
    ports_h        ports;
}

// A clone's metadata begins with zero but for the fields of its list.
#define AT_INGRESS 1
#define AT_EGRESS  2

struct metadata_t {
    bit<1>  begins;                     // source: INT begins here
    bit<1>  ends;                       // sink: INT ends here
    bit<8>  hops;                       // that a source allows
    @field_list(AT_INGRESS, AT_EGRESS) bit<48> ingress_time;        // us
    @field_list(AT_EGRESS) bit<9>  ingress_port;
    @field_list(AT_EGRESS) bit<9>  egress_port;
    @field_list(AT_EGRESS) bit<8>  queue;
    @field_list(AT_EGRESS) bit<24> occupancy;                       // packets
    @field_list(AT_EGRESS) bit<48> egress_time;                     // us
}

#include "common/routes.p4"

error { NotIpv4, ShortInt }

// ---- Parser -----------------------------------------------------------------------------------

parser IntParser(
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
        // No fragments: with INT in the first only, the packet could not be put together again.
        transition select(hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0 &&& 1, 0, PROTOCOL_TCP): parse_ports;
            (0 &&& 1, 0, PROTOCOL_UDP): look_at_udp;
            default: accept;
        }
    }
    state look_at_udp {
        transition select(packet.lookahead<ports_h>().destination) {
            INT_PORT: parse_int;
            default: parse_ports;
        }
    }
    state parse_ports {
        packet.extract(hdr.ports);
        transition accept;
    }
    state parse_int {
        packet.extract(hdr.int_udp);
        packet.extract(hdr.int_shim);
        packet.extract(hdr.int_md);
        verify(hdr.int_shim.length >= INT_MD_WORDS, error.ShortInt);
        packet.extract(hdr.int_stack, (bit<32>)(hdr.int_shim.length - INT_MD_WORDS) << 5);
        transition accept;
    }
}

// ---- Ingress ----------------------------------------------------------------------------------

control IntIngress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {

    action begin_int(bit<8> hops) {
        md.begins = 1;
        md.hops = hops;
    }

    // Filled at a source: the packets to watch.
    table watchlist {
        key = {
            hdr.ipv4.source      : ternary;
            hdr.ipv4.destination : ternary;
            hdr.ipv4.protocol    : ternary;
        }
        actions = { begin_int; NoAction; }
        default_action = NoAction();
        size = 256;
    }

    action end_int() {
        md.ends = 1;
    }

    // Filled at source and sink: ports with hosts, which know nothing of INT.
    table edges {
        key = { standard_metadata.egress_spec : exact; }
        actions = { end_int; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    apply {
        Router.apply(hdr, standard_metadata);
        edges.apply();
        md.ingress_time = standard_metadata.ingress_global_timestamp;
        if (hdr.int_md.isValid()) {
            if (md.ends == 1) {
                clone_preserving_field_list(CloneType.I2E, REPORT_SESSION, AT_INGRESS);
            }
        } else {
            if (md.ends == 0 && hdr.ports.isValid()) {
                watchlist.apply();
            }
            md.ends = 0;                // nothing to end
        }
    }
}

// ---- Egress -----------------------------------------------------------------------------------

#include "int/hop.p4"
#include "int/report.p4"

control IntEgress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {

    bit<32> node;

    action number(bit<32> id) {
        node = id;
    }

    // The control plane's: a number that no other switch has.
    table this_node {
        actions = { number; }
        default_action = number(0);
    }

    apply {
        this_node.apply();
        if (standard_metadata.instance_type == INGRESS_CLONE
                || standard_metadata.instance_type == EGRESS_CLONE) {
            IntReport.apply(hdr, md, node, standard_metadata);
        } else {
            md.ingress_port = standard_metadata.ingress_port;
            md.egress_port = standard_metadata.egress_port;
            md.queue = (bit<8>)standard_metadata.priority;
            md.occupancy = (bit<24>)standard_metadata.enq_qdepth;
            md.egress_time = standard_metadata.egress_global_timestamp;
            if (md.begins == 1) {
                IntSource.apply(hdr, md);
            }
            if (md.ends == 1) {
                IntSink.apply(hdr, standard_metadata);
            } else if (hdr.int_md.isValid()) {
                IntTransit.apply(hdr, md, node);
            }
        }
    }
}

// ---- Checksums and deparser ---------------------------------------------------------------------

control IntUpdate(inout headers_t hdr, inout metadata_t md) {
    apply {
        RouterUpdate.apply(hdr, md);
        update_checksum(hdr.report_ipv4.isValid(), {
            hdr.report_ipv4.version, hdr.report_ipv4.header_length, hdr.report_ipv4.dscp,
            hdr.report_ipv4.ecn, hdr.report_ipv4.total_length, hdr.report_ipv4.identification,
            hdr.report_ipv4.flags, hdr.report_ipv4.fragment_offset, hdr.report_ipv4.ttl,
            hdr.report_ipv4.protocol, hdr.report_ipv4.source, hdr.report_ipv4.destination },
            hdr.report_ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

control IntDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(IntParser(), RouterVerify(), IntIngress(), IntEgress(), IntUpdate(), IntDeparser()) main;
