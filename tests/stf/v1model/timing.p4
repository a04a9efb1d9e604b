// Standard metadata that the switch fills in: ports, lengths, times in microseconds, an empty queue.
#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

header report_h {
    bit<16> in_port;
    bit<16> out_port;
    bit<16> length;
    bit<8>  depths;
    bit<8>  waited;
    bit<8>  ordered;
}
struct headers_t { report_h report; }
struct metadata_t {}

parser TestParser(packet_in packet, out headers_t hdr, inout metadata_t md,
                  inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.report);
        transition accept;
    }
}

control NoVerify(inout headers_t hdr, inout metadata_t md) { apply {} }
control NoUpdate(inout headers_t hdr, inout metadata_t md) { apply {} }

control TestIngress(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 9;
        hdr.report.in_port = (bit<16>)standard_metadata.ingress_port;
        hdr.report.length = (bit<16>)standard_metadata.packet_length;
    }
}

control TestEgress(inout headers_t hdr, inout metadata_t md,
               inout standard_metadata_t standard_metadata) {
    apply {
        hdr.report.out_port = (bit<16>)standard_metadata.egress_port;
        hdr.report.depths = (bit<8>)standard_metadata.enq_qdepth
                          + (bit<8>)standard_metadata.deq_qdepth;
        hdr.report.waited = (bit<8>)standard_metadata.deq_timedelta;
        // The first packet comes one second after the switch was set up.
        if (standard_metadata.ingress_global_timestamp >= 1000000
            && standard_metadata.egress_global_timestamp
                >= standard_metadata.ingress_global_timestamp
            && standard_metadata.enq_timestamp >= 1000000) {
            hdr.report.ordered = 1;
        }
    }
}

control TestDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(TestParser(), NoVerify(), TestIngress(), TestEgress(), NoUpdate(), TestDeparser()) main;
