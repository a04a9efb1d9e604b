//! N0203: only the ingress control waits: for memory, a mutex or a queue's depth.

#include "shared/npu.p4"
#ifdef BROKEN
#define PARSER Look
#else
#define PARSER Parse
#endif
parser Look(packet_in packet, out headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
    state start {
#ifdef BROKEN
        npu.queue = (bit<8>)queue_packets(1, 0);
#endif
        transition accept;
    }
}
control Ingress(inout headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
    apply {
#ifndef BROKEN
        npu.queue = (bit<8>)queue_packets(1, 0);
#endif
        npu.egress_port = 1;
    }
}
NPU(PARSER(), Ingress(), Deparse()) main;
