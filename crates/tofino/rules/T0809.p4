//! T0809: a program has no header unions.

#include "shared/types.p4"
#include "shared/ingress.p4"

header tag_h {
    bit<16> vlan;
}

#ifdef BROKEN
header_union shim_t {
    tag_h    tag;
    report_h report;
}
#else
struct shim_t {
    tag_h    tag;
    report_h report;
}
#endif

struct tagged_t {
    ethernet_h ethernet;
    shim_t     shim;
}

parser Parser(packet_in packet, out tagged_t hdr, out metadata_t meta,
              out egress_intrinsic_metadata_t eg) {
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.shim.tag);
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
