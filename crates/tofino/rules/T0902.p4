//! T0902: resubmitted metadata is at most 8 bytes.

header again_h {
    bit<32> now;
    bit<32> delay;
#ifdef BROKEN
    bit<32> count;
#endif
}

#include "shared/types.p4"

control Ingress(inout headers_t hdr, inout ingress_metadata_t meta,
                in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprs,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        tm.ucast_egress_port = 1;
        if (ig.resubmit_flag == 0) {
            dprs.resubmit_type = 1;
        }
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in ingress_metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t dprs) {
    Resubmit() resubmit;
    apply {
        if (dprs.resubmit_type == 1) {
#ifdef BROKEN
            resubmit.emit<again_h>({
                hdr.report.delay, hdr.report.drop_next, hdr.report.count });
#else
            resubmit.emit<again_h>({ hdr.report.delay, hdr.report.drop_next });
#endif
        }
        packet.emit(hdr);
    }
}

control Egress(inout headers_t hdr, inout metadata_t meta,
               in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprs,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply { }
#include "shared/egress_end.p4"
