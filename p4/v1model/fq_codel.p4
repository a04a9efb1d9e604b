// A router with fq_codel: flows are spread over the queues of a port, each of them with its own CoDel.
//
//   common/router.p4 -> FlowQueue -> 8 queues, served in turns -> Codel -> port
//
// R. Kundel et al.: "P4-CoDel: Experiences on Programmable Data Plane Hardware", IEEE ICC 2021, section
// III-A, after RFC 8290. The traffic manager serves the queues; Codel keeps its state by queue
// anyway, so ingress has only to choose one.
//
// Where it leaves RFC 8290: 8 queues and not 1024, so that flows share them; no list of new flows;
// a full queue drops its own tail, not the head of the longest one; and "less than one packet" looks
// at the packet's own queue.
//
// Control plane: fq_codel.toml has the routes and the queues of equal weight, which bmv2 has not:
// there they go by priority.
#include <core.p4>
#include <v1model.p4>

#include "aqm/codel.p4"

struct metadata_t {}

#include "common/router.p4"

// Packets of a flow have the same protocol, addresses and ports, and so the same queue.
control FlowQueue(in headers_t hdr, inout standard_metadata_t standard_metadata) {
    apply {
        // Fields of headers that a packet does not have are left out.
        hash(standard_metadata.priority, HashAlgorithm.crc32, 3w0,
             { hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination,
               hdr.tcp.source_port, hdr.tcp.destination_port,
               hdr.udp.source_port, hdr.udp.destination_port },
             4w8);
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
