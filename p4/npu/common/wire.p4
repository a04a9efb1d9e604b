// A wire between ports: what comes in by one leaves by the other. What the programs of this folder
// share; `aqm` is the control that decides before the queue.
#ifndef COMMON_WIRE_P4
#define COMMON_WIRE_P4

struct headers_t {}
struct metadata_t {}

parser WireParser(packet_in packet, out headers_t hdr, inout metadata_t md, inout npu_metadata_t npu) {
    state start {
        transition accept;
    }
}

control Wire(inout npu_metadata_t npu) {

    action send(bit<16> port) {
        npu.egress_port = port;
    }

    action drop() {
        npu.egress_port = NPU_DROP_PORT;
    }

    table forward {
        key = { npu.ingress_port : exact; }
        actions = { send; drop; }
        const default_action = drop();
        size = 64;
    }

    apply {
        forward.apply();
    }
}

control WireDeparser(packet_out packet, in headers_t hdr, in metadata_t md) {
    apply {
        packet.emit(hdr);
    }
}

// The processor, each of its figures by -D: THREADS=1 is a processor of one thread.
#ifndef THREADS
#define THREADS         480
#endif
#ifndef PROCESSING_MIN
#define PROCESSING_MIN  8000
#endif
#ifndef PROCESSING_MAX
#define PROCESSING_MAX  12000
#endif
#ifndef ACCESS_MIN
#define ACCESS_MIN      125
#endif
#ifndef ACCESS_MAX
#define ACCESS_MAX      625
#endif
#ifndef IN_ORDER
#define IN_ORDER        true
#endif
#define PROCESSOR(Ingress)                                                          \
    NPU(parse = WireParser(), ingress = Ingress(), deparse = WireDeparser(),        \
        threads = THREADS, in_order = IN_ORDER,                                     \
        processing_min = PROCESSING_MIN, processing_max = PROCESSING_MAX,           \
        access_min = ACCESS_MIN, access_max = ACCESS_MAX) main

#endif
