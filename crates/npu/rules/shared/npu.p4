// What the programs of the NPU's rules share: everything but the ingress control and main.
#include <core.p4>
#include <npu.p4>

struct headers_t {}
struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
    state start {
        transition accept;
    }
}

control Deparse(packet_out packet, in headers_t hdr, in metadata_t md) {
    apply {
        packet.emit(hdr);
    }
}
