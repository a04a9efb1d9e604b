//! T0808: ghost and ingress test `ping_pong` both or not at all.

#include <core.p4>
#include <t2na.p4>

header depth_h {
    bit<32> depth;
}
struct headers_t {
    depth_h report;
}
struct metadata_t { }

Register<bit<32>, bit<11>>(2048) depths;

control Ghost(in ghost_intrinsic_metadata_t gh) {
    RegisterAction<bit<32>, bit<11>, bit<32>>(depths) write_depth = {
        void apply(inout bit<32> depth) { depth = (bit<32>)gh.qlength; }
    };
    apply {
#ifdef BROKEN
        if (gh.ping_pong == 1) {
            write_depth.execute(gh.qid);
        }
#else
        write_depth.execute(gh.qid);
#endif
    }
}

parser IngressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                     out ingress_intrinsic_metadata_t ig) {
    state start {
        packet.extract(ig);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.report);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t meta,
                in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprs,
                inout ingress_intrinsic_metadata_for_tm_t tm,
                in ghost_intrinsic_metadata_t gh) {
    RegisterAction<bit<32>, bit<11>, bit<32>>(depths) read_depth = {
        void apply(inout bit<32> depth, out bit<32> word) { word = depth; }
    };
    apply {
        tm.ucast_egress_port = 1;
        hdr.report.depth = read_depth.execute(16);
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t dprs) {
    apply { packet.emit(hdr); }
}

parser EgressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                    out egress_intrinsic_metadata_t eg) {
    state start {
        packet.extract(eg);
        transition accept;
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
    apply { packet.emit(hdr); }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser(), Ghost()) pipe;
Switch(pipe) main;
