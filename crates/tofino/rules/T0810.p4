//! T0810: a header has no type parameters.

#include "shared/types.p4"
#include "shared/ingress.p4"

#ifdef BROKEN
header tag_h<T> {
    T vlan;
}

struct tagged_t {
    ethernet_h      ethernet;
    tag_h<bit<16>>  tag;
}
#else
header tag_h {
    bit<16> vlan;
}

struct tagged_t {
    ethernet_h ethernet;
    tag_h      tag;
}
#endif

parser Parser(packet_in packet, out tagged_t hdr, out metadata_t meta,
              out egress_intrinsic_metadata_t eg) {
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.tag);
        transition accept;
    }
}

control Egress(inout tagged_t hdr, inout metadata_t meta,
               in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprs,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply { }
}

control EgressDeparser(packet_out packet, inout tagged_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t dprs) {
    apply {
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), Parser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
