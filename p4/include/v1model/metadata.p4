// What the switch tells a program about its packet, and what it is told.
//
// Times are microseconds since the switch began, queue depths are packets. Every field is zero at
// the start of ingress unless said otherwise.
#ifndef SOJOURN_V1MODEL_METADATA_P4
#define SOJOURN_V1MODEL_METADATA_P4

@metadata @name("standard_metadata")
struct standard_metadata_t {
    V1MODEL_PORT ingress_port;          // where a new packet came in
    V1MODEL_PORT egress_spec;           // where ingress sends it; 511 drops it, also in egress
    V1MODEL_PORT egress_port;           // where it leaves; known in egress
    bit<32> instance_type;              // 0 normal, 1 ingress clone, 2 egress clone,
                                        // 4 recirculated, 5 multicast copy, 6 resubmitted
    bit<32> packet_length;              // in bytes
    @alias("queueing_metadata.enq_timestamp")
    bit<32> enq_timestamp;              // when it was enqueued (egress only, as the next three)
    @alias("queueing_metadata.enq_qdepth")
    bit<19> enq_qdepth;                 // packets in its queue then
    @alias("queueing_metadata.deq_timedelta")
    bit<32> deq_timedelta;              // how long it was in its queue
    @alias("queueing_metadata.deq_qdepth")
    bit<19> deq_qdepth;                 // packets that it left behind in its queue
    @alias("intrinsic_metadata.ingress_global_timestamp")
    bit<48> ingress_global_timestamp;   // when it came in
    @alias("intrinsic_metadata.egress_global_timestamp")
    bit<48> egress_global_timestamp;    // when egress began
    @alias("intrinsic_metadata.mcast_grp")
    bit<16> mcast_grp;                  // multicast group, 0 for none
    @alias("intrinsic_metadata.egress_rid")
    bit<16> egress_rid;                 // which copy of the group this is
    bit<1>  checksum_error;             // 1 if a verify_checksum found a wrong checksum
    error   parser_error;               // how the parser ended
    @alias("intrinsic_metadata.priority")
    V1MODEL_PRIORITY priority;          // its queue; the highest goes first
}

// Sets egress_spec to the port that drops and mcast_grp to 0. Either can be set again afterwards.
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

@deprecated("write mark_to_drop(standard_metadata)")
extern void mark_to_drop();

#endif
