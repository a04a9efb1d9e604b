//! An ingress pass that sends everything to port 1.

control Ingress(inout headers_t hdr, inout ingress_metadata_t meta,
                in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprs,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        tm.ucast_egress_port = 1;
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in ingress_metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t dprs) {
    apply {
        packet.emit(hdr);
    }
}
