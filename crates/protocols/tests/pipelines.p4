/* Two pipelines of one program: each forwards with an ingress of its own; parsers, deparsers and
 * egress are the same blocks, with tables of their own in each. */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> kind;
}

struct headers_t {
    ethernet_h ethernet;
}

struct port_t {
    bit<64> mark;
}

struct metadata_t {
    bit<64> mark;
}

parser IgParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                out ingress_intrinsic_metadata_t ig) {
    state start {
        packet.extract(ig);
        port_t port = port_metadata_unpack<port_t>(packet);
        meta.mark = port.mark;
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Outer(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig,
              in ingress_intrinsic_metadata_from_parser_t from_parser,
              inout ingress_intrinsic_metadata_for_deparser_t to_deparser,
              inout ingress_intrinsic_metadata_for_tm_t to_tm) {
    action send(PortId_t port) {
        to_tm.ucast_egress_port = port;
    }
    action drop() {
        to_deparser.drop_ctl = 1;
    }
    table forward_t {
        key = { hdr.ethernet.dst : exact @name("dst"); }
        actions = { send; drop; }
        default_action = drop();
        size = 64;
    }
    apply {
        forward_t.apply();
    }
}

control Inner(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig,
              in ingress_intrinsic_metadata_from_parser_t from_parser,
              inout ingress_intrinsic_metadata_for_deparser_t to_deparser,
              inout ingress_intrinsic_metadata_for_tm_t to_tm) {
    Register<bit<32>, bit<1>>(1) seen;
    RegisterAction<bit<32>, bit<1>, bit<32>>(seen) count = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    action send(PortId_t port) {
        to_tm.ucast_egress_port = port;
    }
    table forward_t {
        key = { meta.mark : exact @name("mark"); }
        actions = { send; @defaultonly NoAction; }
        default_action = NoAction();
        size = 64;
    }
    apply {
        count.execute(0);
        forward_t.apply();
    }
}

control IgDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                   in ingress_intrinsic_metadata_for_deparser_t to_deparser) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

struct nothing_t {}

parser EgParser(packet_in packet, out headers_t hdr, out nothing_t meta,
                out egress_intrinsic_metadata_t eg) {
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout nothing_t meta, in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t to_deparser,
               inout egress_intrinsic_metadata_for_output_port_t to_port) {
    action stop() {
        to_deparser.drop_ctl = 1;
    }
    table leave_t {
        key = { eg.egress_port : exact @name("port"); }
        actions = { stop; @defaultonly NoAction; }
        default_action = NoAction();
        size = 64;
    }
    apply {
        leave_t.apply();
    }
}

control EgDeparser(packet_out packet, inout headers_t hdr, in nothing_t meta,
                   in egress_intrinsic_metadata_for_deparser_t to_deparser) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

Pipeline(IgParser(), Outer(), IgDeparser(), EgParser(), Egress(), EgDeparser()) outer;
Pipeline(IgParser(), Inner(), IgDeparser(), EgParser(), Egress(), EgDeparser()) inner;
Switch(outer, inner) main;
