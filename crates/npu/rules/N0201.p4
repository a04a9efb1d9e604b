//! N0201: only the externs of npu.p4 do something.

#include "shared/npu.p4"
extern bit<16> csum(in bit<32> data);
control Ingress(inout headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
    apply {
#ifdef BROKEN
        npu.egress_port = csum(npu.packet_length);
#else
        npu.egress_port = npu.packet_length[15:0] & 1;
#endif
    }
}
NPU(Parse(), Ingress(), Deparse()) main;
