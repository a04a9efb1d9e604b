//! N0202: a cell of shared memory is a number of at most 64 bits, and there are at most 2^26.

#include "shared/npu.p4"
control Ingress(inout headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
#ifdef BROKEN
    Memory<bit<96>>(1) sums;                            // packets, bytes
    apply {
        bit<96> before = sums.test_and_add(0, 32w1 ++ (bit<64>)npu.packet_length);
        npu.egress_port = 1;
    }
#else
    Memory<bit<32>>(1) packets;
    Memory<bit<64>>(1) bytes;
    apply {
        packets.test_and_add(0, 1);
        bytes.test_and_add(0, (bit<64>)npu.packet_length);
        npu.egress_port = 1;
    }
#endif
}
NPU(Parse(), Ingress(), Deparse()) main;
