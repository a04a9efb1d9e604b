//! Everything up to the inside of the egress control, which the including file writes.

#include "types.p4"
#include "ingress.p4"

control Egress(inout headers_t hdr, inout metadata_t meta,
               in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprs,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
