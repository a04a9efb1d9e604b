//! The end of the egress parser, and what follows it.

}

control ParsedEgress(inout parsed_t hdr, inout metadata_t meta,
                     in egress_intrinsic_metadata_t eg,
                     in egress_intrinsic_metadata_from_parser_t prsr,
                     inout egress_intrinsic_metadata_for_deparser_t dprs,
                     inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {
        hdr.report.size = meta.size;
        hdr.report.extra = meta.delay;
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
