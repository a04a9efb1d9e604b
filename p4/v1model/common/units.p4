// The number of a queue, and registers: what the queue managements of this folder share.
#ifndef COMMON_UNITS_P4
#define COMMON_UNITS_P4

// State is kept for each queue: 512 ports with 8 priorities. bmv2 serves all queues of a port in
// one thread, so that two packets of one queue are never in egress at the same time. `port` is
// egress_port in egress, and egress_spec in ingress.
#define QUEUES  4096
#define QUEUE_NUMBER(port)  ((bit<32>)(standard_metadata.port ++ standard_metadata.priority))

#define DROP_PORT   9w511               // what mark_to_drop writes into egress_spec

// v1model.p4 declares registers in two ways, as the program has chosen before it includes it.
#if V1MODEL_VERSION >= 20200408
#define REGISTER(T) register<T, bit<32>>
#else
#define REGISTER(T) register<T>
#endif

#endif
