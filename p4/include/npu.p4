// A many-core network processor, as an architecture of Sojourn's own.
//
// Many threads take packets from the wire and run one program on each: parser, ingress, deparser.
// Then a packet is queued, and no program sees it again: what manages a queue stands before it and
// asks how full the queue is now. So are the SmartNICs of R. Kundel et al., "P4-CoDel: Experiences on
// Programmable Data Plane Hardware" (IEEE ICC 2021), section III-B, where the queue management is a
// function in C called from P4. Here it is a P4 control in a file of its own, and what C has of the
// card are the externs below: shared memory, each access an event, and nothing atomic but one access.
//
// A thread waits for its memory while others run. What is read may be old when it is used; two threads
// that read, add and write lose an update. That is the point of this architecture: the run counts the
// updates that were lost, and names the first by its line.
#ifndef SOJOURN_NPU_P4
#define SOJOURN_NPU_P4

#include <core.p4>

// What a thread is told of its packet, and where it sends it.
struct npu_metadata_t {
    bit<16> ingress_port;               // where the packet came in
    bit<64> arrived;                    // when, in ns
    bit<32> packet_length;              // in bytes
    error   parser_error;               // how the parser ended
    bit<16> egress_port;                // where it is to leave; NPU_DROP_PORT, as it begins, drops it
    bit<8>  queue;                      // its queue there
}

const bit<16> NPU_DROP_PORT = 0xffff;

// The thread's clock: ns since the switch began. Takes no time.
extern bit<64> now();

// Packets in a queue at this instant. The answer is as old as its way back when it is used.
extern bit<32> queue_packets(in bit<16> port, in bit<8> queue);

// Cells that all threads share, at most 64 bits each. Each call is one access: carried out at one
// instant by the memory's engine, while the thread waits. A cell beyond the last one reads as 0.
extern Memory<T> {
    Memory(bit<32> size);
    T    read(in bit<32> index);
    void write(in bit<32> index, in T value);
    // What was there before; the sum is there afterwards, modulo 2^W.
    T    test_and_add(in bit<32> index, in T value);
    // What was there before; `value` is there afterwards if that was `expected`.
    T    compare_and_swap(in bit<32> index, in T expected, in T value);
}

// Locks that threads wait for in the order in which they ask. A thread that would wait for itself,
// through whomever, is ended with its packet; one that ends holding a lock loses it. Both are faults.
extern Mutex {
    Mutex(bit<32> size);
    void lock(in bit<32> index);
    void unlock(in bit<32> index);
}

parser NpuParser<H, M>(packet_in packet, out H hdr, inout M meta, inout npu_metadata_t npu);
@pipeline
control NpuIngress<H, M>(inout H hdr, inout M meta, inout npu_metadata_t npu);
@deparser
control NpuDeparser<H, M>(packet_out packet, in H hdr, in M meta);

// The processor. Times are ns; where there are two, each pass and each access draws its own between
// them. A NFP-4000 has 60 cores of 8 threads at 800 MHz; its memories answer after 100 to 500 cycles
// (Netronome, "The Joy of Micro-C"). How long parser and tables take depends on the program: the
// defaults make up the some 10 us by which a P4 program delays a packet there.
package NPU<H, M>(
    NpuParser<H, M> parse,
    NpuIngress<H, M> ingress,
    NpuDeparser<H, M> deparse,
    bit<32> threads = 480,              // packets that are worked on at once
    bit<32> input_buffer = 4096,        // packets that may wait for a thread; more are lost
    bit<32> processing_min = 8000,      // a pass without its accesses: half before ingress, half after
    bit<32> processing_max = 12000,
    bit<32> access_min = 125,           // there and back
    bit<32> access_max = 625,
    bool in_order = true);              // packets leave in the order in which they came

#endif
