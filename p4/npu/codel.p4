// CoDel on a many-core network processor (aqm/codel.p4), where P4-CoDel has it on SmartNICs: a wire between
// two ports, and before each queue the decision by its depth.
//
//   thread: parser -> Wire -> Codel -> queue -> port
//
// The paper (R. Kundel et al., IEEE ICC 2021, section III-B) published no NPU code; the law is RFC 8289's.
// As the paper describes it the threads race; -D CODEL_MUTEX has them wait for each other.
// -D CODEL_DROP_NEXT_FROM_NOW: drop_next as the paper's Listing 1 has it. -D THREADS=1 and so on:
// common/wire.p4. Control plane: codel.toml has the two ports.
#include <core.p4>
#include <npu.p4>

#include "common/wire.p4"
#include "aqm/codel.p4"

control Ingress(inout headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
    bool drop;
    apply {
        Wire.apply(npu);
        if (npu.egress_port != NPU_DROP_PORT) {
            Codel.apply(npu.egress_port, npu.queue, drop);
            if (drop) {
                npu.egress_port = NPU_DROP_PORT;
            }
        }
    }
}

PROCESSOR(Ingress);
