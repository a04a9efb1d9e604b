//! T1311: only a parser makes a header of variable size valid.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.options, ((bit<32>)hdr.ipv4.ihl - 5) * 32);
        transition accept;
    }
}

control ParsedEgress(inout parsed_t hdr, inout metadata_t meta,
                     in egress_intrinsic_metadata_t eg,
                     in egress_intrinsic_metadata_from_parser_t prsr,
                     inout egress_intrinsic_metadata_for_deparser_t dprs,
                     inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {
#ifdef BROKEN
        hdr.options.setValid();
#else
        hdr.options.setInvalid();
#endif
    }
}

control ParsedDeparser(packet_out packet, inout parsed_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t dprs) {
    apply {
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), Parser(), ParsedEgress(),
         ParsedDeparser()) pipe;
Switch(pipe) main;
