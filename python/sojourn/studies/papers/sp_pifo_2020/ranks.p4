/*
 * Ranks for packets: writes a random rank into the identification field of IPv4 and forwards.
 *
 *     host --- port 1 | rank = table of a random number | port 2 --- switch under test
 *
 * The table turns 65,536 equally likely numbers into ranks of any distribution: a range for each rank. Packets from
 * port 2 pass unchanged. The disciplines pifo, sp_pifo, aifo and packs read the field.
 */
#include <core.p4>
#include <v1model.p4>

const bit<9> HOST_PORT = 1;
const bit<9> SWITCH_PORT = 2;
const bit<16> ETHERTYPE_IPV4 = 0x0800;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

header ipv4_t {
    bit<16> version_to_dscp;
    bit<16> total_length;
    bit<16> rank;
    bit<16> fragment;
    bit<16> ttl_and_protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
}

struct metadata_t {
    bit<16> drawn;
}

parser RanksParser(packet_in packet, out headers_t hdr, inout metadata_t md,
                   inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control RanksVerify(inout headers_t hdr, inout metadata_t md) {
    apply {}
}

control RanksIngress(inout headers_t hdr, inout metadata_t md,
                     inout standard_metadata_t standard_metadata) {
    action set_rank(bit<16> rank) {
        hdr.ipv4.rank = rank;
    }

    table ranks {
        key = { md.drawn: range; }
        actions = { set_rank; NoAction; }
        default_action = NoAction();
        size = 128;
    }

    apply {
        if (standard_metadata.ingress_port == HOST_PORT) {
            standard_metadata.egress_spec = SWITCH_PORT;
            if (hdr.ipv4.isValid()) {
                random(md.drawn, 0, 0xffff);
                ranks.apply();
            }
        } else {
            standard_metadata.egress_spec = HOST_PORT;
        }
    }
}

control RanksEgress(inout headers_t hdr, inout metadata_t md,
                    inout standard_metadata_t standard_metadata) {
    apply {}
}

control RanksUpdate(inout headers_t hdr, inout metadata_t md) {
    apply {
        update_checksum(
            hdr.ipv4.isValid(),
            { hdr.ipv4.version_to_dscp, hdr.ipv4.total_length, hdr.ipv4.rank, hdr.ipv4.fragment,
              hdr.ipv4.ttl_and_protocol, hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum,
            HashAlgorithm.csum16);
    }
}

control RanksDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(RanksParser(), RanksVerify(), RanksIngress(), RanksEgress(), RanksUpdate(),
         RanksDeparser()) main;
