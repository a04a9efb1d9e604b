// CoDel's parameters, and how a depth in packets becomes a delay.
#ifndef COMMON_PARAMETERS_P4
#define COMMON_PARAMETERS_P4

typedef bit<64> time_t;                 // ns

// RFC 8289, sections 4.3 and 4.4.
#ifndef TARGET
#define TARGET      5000000             // ns: delay that may stand in a queue for good
#endif
#ifndef INTERVAL
#define INTERVAL    100000000           // ns: time a sender needs to react to a drop
#endif

// The processor knows packets, not bytes and not times. A full frame of 1514 bytes takes so long
// where the port sends 100 Mbit/s; a program for another rate defines another.
#ifndef PACKET_TIME
#define PACKET_TIME 121120              // ns
#endif

// The least depth that means TARGET.
#define TARGET_PACKETS      ((TARGET + PACKET_TIME - 1) / PACKET_TIME)

// Nothing is dropped while no more than this many packets are queued: with fewer a drop would leave
// the link idle (section 5.5, MAXPACKET).
#define CODEL_MAXPACKET     1

// State is kept for each queue: 64 ports with 8 queues.
#define QUEUES              512
#define QUEUE_NUMBER(port, queue)   ((bit<32>)((port)[5:0] ++ (queue)[2:0]))

#endif
