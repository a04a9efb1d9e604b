//! T0905: a digest is at most 48 bytes.

#include "shared/types.p4"

struct seen_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<32> delay;
#ifdef BROKEN
    bit<32> from;
    bit<32> to;
    bit<32> count;
    bit<32> drop_next;
    bit<32> extra;
    bit<32> a;
    bit<32> b;
    bit<32> c;
#endif
}

control Ingress(inout headers_t hdr, inout ingress_metadata_t meta,
                in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprs,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        tm.ucast_egress_port = 1;
        dprs.digest_type = 1;
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in ingress_metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t dprs) {
    Digest<seen_t>() digest;
    apply {
        if (dprs.digest_type == 1) {
#ifdef BROKEN
            digest.pack({ hdr.ethernet.dst_addr, hdr.ethernet.src_addr, hdr.report.delay,
                          hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.report.count,
                          hdr.report.drop_next, hdr.report.extra, hdr.report.delay,
                          hdr.report.count, hdr.report.extra });
#else
            digest.pack({ hdr.ethernet.dst_addr, hdr.ethernet.src_addr, hdr.report.delay });
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
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t dprs) {
    apply {
        packet.emit(hdr);
    }
}

#include "shared/main.p4"
