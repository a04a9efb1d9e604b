//! N0101: `main` is an `NPU` of a parser, an ingress control and a deparser.

#ifdef BROKEN
#include <core.p4>
control Step();
package NPU(Step first, Step second);
control Nothing() {
    apply {}
}
NPU(Nothing(), Nothing()) main;
#else
#include "shared/npu.p4"
control Ingress(inout headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
    apply {
        npu.egress_port = 1;
    }
}
NPU(Parse(), Ingress(), Deparse()) main;
#endif
