//! T0702: a register belongs to ingress or to egress.

#include "shared/types.p4"

Register<bit<32>, bit<9>>(512) packets;

control Ingress(inout headers_t hdr, inout ingress_metadata_t meta,
                in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprs,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    RegisterAction<bit<32>, bit<9>, bit<32>>(packets) add = {
        void apply(inout bit<32> value) { value = value + 1; }
    };
    apply {
        tm.ucast_egress_port = 1;
        add.execute(ig.ingress_port);
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in ingress_metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t dprs) {
    apply {
        packet.emit(hdr);
    }
}

control Egress(inout headers_t hdr, inout metadata_t meta,
               in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprs,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
#ifdef BROKEN
    RegisterAction<bit<32>, bit<9>, bit<32>>(packets) subtract = {
#else
    Register<bit<32>, bit<9>>(512) departed;
    RegisterAction<bit<32>, bit<9>, bit<32>>(departed) subtract = {
#endif
        void apply(inout bit<32> value, out bit<32> left) {
            value = value - 1;
            left = value;
        }
    };
    apply {
        hdr.report.count = subtract.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
