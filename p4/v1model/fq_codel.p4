// A router with fq_codel: flows are spread over the queues of a port, each of them with its own CoDel.
//
//   common/router.p4 -> FlowQueue -> FQ_QUEUES queues, served in turns -> Codel -> port
//
// R. Kundel et al.: "P4-CoDel: Experiences on Programmable Data Plane Hardware", IEEE ICC 2021, section
// III-A, after RFC 8290. The traffic manager serves the queues; Codel keeps its state by queue
// anyway, so ingress has only to choose one.
//
// Where it leaves RFC 8290: 8 queues (or 32) and not 1024, so that flows share them; no list of new
// flows; a full queue drops its own tail, not the head of the longest one; and "less than one packet"
// looks at the packet's own queue.
//
// 8 queues are what v1model.p4 has room for in `priority`. With `-D FQ_QUEUES=32` the field is wider:
// `simple_switch` runs with as many, but p4c's own v1model.p4 has to be changed to bit<5> for it.
//
// Control plane: fq_codel.toml has the routes and the queues of equal weight, which bmv2 has not:
// there they go by priority.
#ifndef FQ_QUEUES
#define FQ_QUEUES 8
#endif
#if FQ_QUEUES > 32
#error FQ_QUEUES: simple_switch has at most 32 queues a port
#endif
#if FQ_QUEUES > 8
#define WIDE_PRIORITY
#define V1MODEL_PRIORITY bit<5>
#endif

#include <core.p4>
#include <v1model.p4>

#include "aqm/codel.p4"

struct metadata_t {}

#include "common/router.p4"

// Packets of a flow have the same protocol, addresses and ports, and so the same queue. A packet
// without ports has 0: what a header that it lacks holds is left from another packet on bmv2.
control FlowQueue(in headers_t hdr, inout standard_metadata_t standard_metadata) {

    bit<16> source_port;
    bit<16> destination_port;

    apply {
        source_port = 0;
        destination_port = 0;
        if (hdr.tcp.isValid()) {
            source_port = hdr.tcp.source_port;
            destination_port = hdr.tcp.destination_port;
        } else if (hdr.udp.isValid()) {
            source_port = hdr.udp.source_port;
            destination_port = hdr.udp.destination_port;
        }
        if (hdr.ipv4.isValid()) {
            hash(standard_metadata.priority, HashAlgorithm.crc32, 5w0,
                 { hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination,
                   source_port, destination_port },
                 (bit<6>) FQ_QUEUES);
        }
    }
}

control SwitchIngress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        Router.apply(hdr, standard_metadata);
        FlowQueue.apply(hdr, standard_metadata);
    }
}

control SwitchEgress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    apply {
        Codel.apply(standard_metadata);
#ifdef QUEUE_MEASUREMENT
        QueueMeasurement.apply(hdr.tcp, hdr.queue_delay, standard_metadata);
#endif
    }
}

V1Switch(RouterParser(), RouterVerify(), SwitchIngress(), SwitchEgress(), RouterUpdate(),
         RouterDeparser()) main;
