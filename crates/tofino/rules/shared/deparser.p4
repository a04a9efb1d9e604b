//! Everything up to the inside of the egress deparser, which the including file writes.

#include "types.p4"
#include "ingress.p4"

control Egress(inout headers_t hdr, inout metadata_t meta,
               in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprs,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {
        meta.delay = prsr.global_tstamp[31:0];
        meta.session = 1;
        dprs.mirror_type = 1;
    }
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t dprs) {
