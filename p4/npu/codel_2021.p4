// P4-CoDel's Listing 1 on a many-core network processor (aqm/codel_2021.p4): a wire between two ports,
// and before each queue the decision by its depth.
//
//   thread: parser -> Wire -> Codel2021 -> queue -> port
//
// The threads race; -D CODEL_MUTEX has them wait for each other. -D THREADS=1 and so on: common/wire.p4.
// Control plane: codel_2021.toml has the two ports.
#include <core.p4>
#include <npu.p4>

#include "common/wire.p4"
#include "aqm/codel_2021.p4"

control Ingress(inout headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
    bool drop;
    apply {
        Wire.apply(npu);
        if (npu.egress_port != NPU_DROP_PORT) {
            Codel2021.apply(npu.egress_port, npu.queue, drop);
            if (drop) {
                npu.egress_port = NPU_DROP_PORT;
            }
        }
    }
}

PROCESSOR(Ingress);
