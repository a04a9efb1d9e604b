//! N0102: the processor's figures are in range, and no least is above its most.

#include "shared/npu.p4"
control Ingress(inout headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
    apply {
        npu.egress_port = 1;
    }
}
#ifdef BROKEN
#define LEAST 20000
#else
#define LEAST 10000
#endif
NPU(parse = Parse(), ingress = Ingress(), deparse = Deparse(),
    processing_min = LEAST, processing_max = 12000) main;
