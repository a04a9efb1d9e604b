// An IPv4 router for PSA and nothing else: packets wait in their queues until there is no room, or
// until the native discipline under the program drops them.
//
//   parser (Ethernet, IPv4, its checksum) -> Router -> deparser (new checksum) -> queue -> port
//
// Egress does nothing. What has no route, no time to live left, a wrong header or checksum, or is not
// IPv4, is dropped.
//
// Control plane: router.toml has the routes.
#include <core.p4>
#include <psa.p4>
#include "../v1model/common/headers.p4"

struct headers_t {
    ethernet_h     ethernet;
    ipv4_h         ipv4;
    ipv4_options_h ipv4_options;
}

struct metadata_t {}
struct empty_t {}

error { NotIpv4, WrongChecksum }

parser RouterParser(
        packet_in packet,
        out headers_t hdr,
        inout metadata_t md,
        in psa_ingress_parser_input_metadata_t istd,
        in empty_t resubmit_meta,
        in empty_t recirculate_meta) {

    InternetChecksum() checksum;

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
        checksum.clear();
        checksum.add({ hdr.ipv4.version, hdr.ipv4.header_length, hdr.ipv4.dscp, hdr.ipv4.ecn,
                       hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags,
                       hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
                       hdr.ipv4.source, hdr.ipv4.destination });
        transition select(hdr.ipv4.header_length) {
            5: behind_ipv4;
            default: parse_ipv4_options;
        }
    }
    state parse_ipv4_options {
        packet.extract(hdr.ipv4_options, ((bit<32>) hdr.ipv4.header_length - 5) << 5);
        checksum.add({ hdr.ipv4_options.options });
        transition behind_ipv4;
    }
    state behind_ipv4 {
        verify(checksum.get() == hdr.ipv4.header_checksum, error.WrongChecksum);
        transition accept;
    }
}

control Router(
        inout headers_t hdr,
        inout metadata_t md,
        in    psa_ingress_input_metadata_t istd,
        inout psa_ingress_output_metadata_t ostd) {

    action drop() {
        ingress_drop(ostd);
    }

    // To the next hop: the router's address and the next one's on that link.
    action send(PortId_t port, bit<48> own, bit<48> next_hop) {
        send_to_port(ostd, port);
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
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1 && istd.parser_error == error.NoError) {
            routes.apply();
        } else {
            drop();
        }
    }
}

control RouterDeparser(
        packet_out packet,
        out empty_t clone_i2e_meta,
        out empty_t resubmit_meta,
        out empty_t normal_meta,
        inout headers_t hdr,
        in metadata_t md,
        in psa_ingress_output_metadata_t istd) {

    InternetChecksum() checksum;

    apply {
        // By the difference (RFC 1624): only the time to live has changed.
        checksum.clear();
        checksum.set_state(~hdr.ipv4.header_checksum);
        checksum.subtract({ hdr.ipv4.ttl + 1, hdr.ipv4.protocol });
        checksum.add({ hdr.ipv4.ttl, hdr.ipv4.protocol });
        hdr.ipv4.header_checksum = checksum.get();
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
    }
}

struct no_headers_t {}

parser NoParser(
        packet_in packet,
        out no_headers_t hdr,
        inout metadata_t md,
        in psa_egress_parser_input_metadata_t istd,
        in empty_t normal_meta,
        in empty_t clone_i2e_meta,
        in empty_t clone_e2e_meta) {
    state start {
        transition accept;
    }
}

control NoEgress(
        inout no_headers_t hdr,
        inout metadata_t md,
        in    psa_egress_input_metadata_t istd,
        inout psa_egress_output_metadata_t ostd) {
    apply {}
}

control NoDeparser(
        packet_out packet,
        out empty_t clone_e2e_meta,
        out empty_t recirculate_meta,
        inout no_headers_t hdr,
        in metadata_t md,
        in psa_egress_output_metadata_t istd,
        in psa_egress_deparser_input_metadata_t edstd) {
    apply {}
}

IngressPipeline(RouterParser(), Router(), RouterDeparser()) ip;
EgressPipeline(NoParser(), NoEgress(), NoDeparser()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
