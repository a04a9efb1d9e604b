// A register that counts, an indexed counter and one that belongs to a table's entries.
#include "frame.p4"

parser IngressParser(packet_in packet, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.frame);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<bit<8>, bit<4>>(16) seen;
    RegisterAction<bit<8>, bit<4>, bit<8>>(seen) next = {
        void apply(inout bit<8> value, out bit<8> rv) {
            value = value + 1;
            rv = value;
        }
    };
    Counter<bit<64>, bit<4>>(16, CounterType_t.PACKETS_AND_BYTES) traffic;
    DirectCounter<bit<64>>(CounterType_t.PACKETS) hits;

    action hit() { hits.count(); }

    table known {
        key = { hdr.frame.key : exact; }
        actions = { hit; }
        counters = hits;
        size = 16;
    }

    apply {
        hdr.frame.note = next.execute(hdr.frame.kind[3:0]);
        traffic.count(hdr.frame.kind[3:0]);
        known.apply();
        ig_tm_md.ucast_egress_port = 9;
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply { packet.emit(hdr.frame); }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
