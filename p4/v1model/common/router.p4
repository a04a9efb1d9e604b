// An IPv4 router: everything of a program but its queue management.
//
//   parser      Ethernet, IPv4 with options, TCP or UDP
//   verify      the IPv4 checksum
//   Router      routes by longest prefix, counts the time to live down; for the ingress control
//   update      the IPv4 checksum
//   deparser    what was parsed, in its order
//
// A program defines `struct metadata_t`, with whatever its queue management needs, includes this
// file, and writes its own ingress and egress control (../router.p4 is the smallest).
//
// What has no route, no time to live left, a wrong header or checksum, or is not IPv4, is dropped.
#ifndef COMMON_ROUTER_P4
#define COMMON_ROUTER_P4

#include "headers.p4"
#ifdef QUEUE_MEASUREMENT
#include "../aqm/queue_measurement.p4"
#endif

struct headers_t {
    ethernet_h     ethernet;
    ipv4_h         ipv4;
    ipv4_options_h ipv4_options;
    tcp_h          tcp;
    udp_h          udp;
#ifdef QUEUE_MEASUREMENT
    tcp_options_h  tcp_options;
    queue_delay_h  queue_delay;         // the first 32 bits of a TCP payload
#endif
}

error { NotIpv4 }

parser RouterParser(
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
        transition behind_ipv4;
    }
    state behind_ipv4 {
        // Only the first fragment has the header of a transport.
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, PROTOCOL_TCP): parse_tcp;
            (0, PROTOCOL_UDP): parse_udp;
            default: accept;
        }
    }
    state parse_udp {
        packet.extract(hdr.udp);
        transition accept;
    }
    state parse_tcp {
        packet.extract(hdr.tcp);
#ifdef QUEUE_MEASUREMENT
        transition select(hdr.tcp.data_offset) {
            0 .. 4: accept;             // it lies about its length
            5: behind_tcp;
            default: parse_tcp_options;
        }
    }
    state parse_tcp_options {
        packet.extract(hdr.tcp_options, ((bit<32>)hdr.tcp.data_offset - 5) << 5);
        transition behind_tcp;
    }
    state behind_tcp {
        // Is there room behind the headers? Ethernet's padding of short frames is no payload.
        bit<16> headers = ((bit<16>)hdr.ipv4.header_length + (bit<16>)hdr.tcp.data_offset) << 2;
        transition select(hdr.ipv4.total_length >= headers + QUEUE_DELAY_BYTES) {
            true: parse_queue_delay;
            default: accept;
        }
    }
    state parse_queue_delay {
        packet.extract(hdr.queue_delay);
#endif
        transition accept;
    }
}

// What the IPv4 checksum goes over.
#define IPV4_CHECKSUM_FIELDS { \
    hdr.ipv4.version, hdr.ipv4.header_length, hdr.ipv4.dscp, hdr.ipv4.ecn, \
    hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags, \
    hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.source, \
    hdr.ipv4.destination, hdr.ipv4_options.options }

control RouterVerify(inout headers_t hdr, inout metadata_t md) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), IPV4_CHECKSUM_FIELDS, hdr.ipv4.header_checksum,
                        HashAlgorithm.csum16);
    }
}

control Router(inout headers_t hdr, inout standard_metadata_t standard_metadata) {

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // To the next hop: the router's address and the next one's on that link.
    action send(bit<9> port, bit<48> own, bit<48> next_hop) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
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

control RouterUpdate(inout headers_t hdr, inout metadata_t md) {
    apply {
        update_checksum(hdr.ipv4.isValid(), IPV4_CHECKSUM_FIELDS, hdr.ipv4.header_checksum,
                        HashAlgorithm.csum16);
    }
}

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.udp);
        packet.emit(hdr.tcp);
#ifdef QUEUE_MEASUREMENT
        packet.emit(hdr.tcp_options);
        packet.emit(hdr.queue_delay);
#endif
    }
}

#endif
