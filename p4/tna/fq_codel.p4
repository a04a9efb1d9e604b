// A router with fq_codel, a CoDel for each of 32 queues: 2 stages of ingress, 10 of egress. Flows are
// spread over the queues, and each CoDel decides as RFC 8289 does.
//
//   common/l3_ingress.p4 -> FlowQueue -> 32 queues, served in turns by bytes -> CodelExact -> port
//                           a hash of the flow says which                         |
//   egress of port 68: synchronisation header off -> CodelExact <-- mirror session 100
//
// R. Kundel et al.: "P4-CoDel: Experiences on Programmable Data Plane Hardware", IEEE ICC 2021, section
// III-A, after RFC 8290. It is codel_exact.p4 with another choice of queue: that program has its
// state for each queue of each port anyway, in registers indexed by both.
//
// Where it leaves RFC 8290
//  * 32 queues and not 1024, as many as a port of the chip has: flows share them.
//  * The traffic manager's deficit round robin serves the queues. It has one list: a queue that
//    begins to send does not go first (the RFC's list of new flows, section 4.2).
//  * A full queue drops its own tail, and not the head of the longest one (section 4.1).
//  * A packet that CoDel drops has had its turn on the wire.
//  * The hash has no secret, and CRC32 can be computed by anybody: flows can be chosen to collide.
//
// Control plane: fq_codel.toml has what codel_exact.toml has, and the queues.
#define FLOW_QUEUES
#include "codel_exact.p4"
