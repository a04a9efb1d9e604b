// Times, the number of a queue, and registers: what the queue managements of this folder share.
//
// bmv2's clock counts microseconds. Here times are nanoseconds, so that TARGET and INTERVAL mean the
// same as in ../../tna, and because INTERVAL / sqrt(count) in whole microseconds would be wrong by
// up to half of one at each drop, which adds up. 64 bits of them do not wrap for 584 years.
#ifndef COMMON_UNITS_P4
#define COMMON_UNITS_P4

typedef bit<64> time_t;                 // ns
#define NANOSECONDS(microseconds)   ((time_t)(microseconds) * 1000)

// State is kept for each queue: 512 ports with 8 priorities. bmv2 serves all queues of a port in
// one thread, so that two packets of one queue are never in egress at the same time. `port` is
// egress_port in egress, and egress_spec in ingress.
#define QUEUES  4096
#define QUEUE_NUMBER(port)  ((bit<32>)(standard_metadata.port ++ standard_metadata.priority))

const bit<9> DROP_PORT = 511;           // what mark_to_drop writes into egress_spec

// v1model.p4 declares registers in two ways, as the program has chosen before it includes it.
#if V1MODEL_VERSION >= 20200408
#define REGISTER(T) register<T, bit<32>>
#else
#define REGISTER(T) register<T>
#endif

#endif
