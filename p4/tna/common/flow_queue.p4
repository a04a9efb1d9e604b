// Flows to queues: all packets of a flow have the same protocol, addresses and ports, and so the same
// of the 32 queues of their port.
#ifndef COMMON_FLOW_QUEUE_P4
#define COMMON_FLOW_QUEUE_P4

#include "ip.p4"

const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

// What TCP and UDP begin with.
header ports_h {
    bit<16> source;
    bit<16> destination;
}

control FlowQueue(
        in ipv4_h ipv4,
        in ipv6_h ipv6,
        in bit<16> source_port,         // 0: the packet has none
        in bit<16> destination_port,
        out QueueId_t queue) {

    Hash<bit<5>>(HashAlgorithm_t.CRC32) of_ipv4;
    Hash<bit<5>>(HashAlgorithm_t.CRC32) of_ipv6;

    apply {
        if (ipv4.isValid()) {
            queue = (QueueId_t)of_ipv4.get({ ipv4.protocol, ipv4.source, ipv4.destination,
                                  source_port, destination_port });
        } else {
            queue = (QueueId_t)of_ipv6.get({ ipv6.next_header, ipv6.source, ipv6.destination,
                                  source_port, destination_port });
        }
    }
}

#endif
