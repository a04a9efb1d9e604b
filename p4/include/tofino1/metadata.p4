// Intrinsic metadata of Tofino 1, as far as shared_metadata.p4 does not have it. Field order is wire
// order where the type is a header.
#ifndef SOJOURN_TOFINO1_METADATA_P4
#define SOJOURN_TOFINO1_METADATA_P4

// ---- Ingress ------------------------------------------------------------------------------

@__intrinsic_metadata
struct ingress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;                // bit 0: no unicast, no multicast; bit 1: no copy to the CPU
    DigestType_t   digest_type;     // these three: not valid until assigned
    ResubmitType_t resubmit_type;
    MirrorType_t   mirror_type;
}

// ---- Egress -------------------------------------------------------------------------------

// In front of each packet in the egress parser: 27 bytes. Depths are in cells of 80 bytes.
@__intrinsic_metadata
header egress_intrinsic_metadata_t {
    @padding bit<(8 - PORT_ID_WIDTH % 8)> _pad0;
    PortId_t egress_port;
    @padding bit<5> _pad1;
    bit<19> enq_qdepth;             // queue depth when the packet was enqueued
    @padding bit<6> _pad2;
    bit<2>  enq_congest_stat;       // 0: below the queue's red limit ... 3: above its green limit
    @padding bit<14> _pad3;
    bit<18> enq_tstamp;             // ns >> timestamp_shift: without a shift it wraps after 262 us
    @padding bit<5> _pad4;
    bit<19> deq_qdepth;             // queue depth when it was dequeued
    @padding bit<6> _pad5;
    bit<2>  deq_congest_stat;
    bit<8>  app_pool_congest_stat;  // two bits for each of the four pools
    @padding bit<14> _pad6;
    bit<18> deq_timedelta;          // time in the queue, same unit as enq_tstamp
    bit<16> egress_rid;             // replication id; 0 for unicast
    @padding bit<7> _pad7;
    bit<1>  egress_rid_first;       // first copy of that replication id
    @padding bit<(8 - QUEUE_ID_WIDTH % 8)> _pad8;
    QueueId_t egress_qid;
    @padding bit<5> _pad9;
    bit<3>  egress_cos;
    @padding bit<7> _pad10;
    bit<1>  deflection_flag;        // came by deflection on drop
    bit<16> pkt_length;             // bytes, frame check sequence included
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;                // bit 0: do not send; bit 2: do not mirror. 1 alone drops the
                                    // packet and still mirrors it
    MirrorType_t mirror_type;       // not valid until assigned
    bit<1> coalesce_flush;
    bit<7> coalesce_length;         // bytes of this packet to collect
}

// ---- Packets that the chip makes itself ---------------------------------------------------

// In front of packets of the packet generator: started by a timer, by a port that went down, by a
// recirculated packet whose first bytes match.
header pktgen_timer_header_t {
    @padding bit<3> _pad1;
    bit<2>  pipe_id;
    bit<3>  app_id;
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_port_down_header_t {
    @padding bit<3> _pad1;
    bit<2>  pipe_id;
    bit<3>  app_id;
    @padding bit<(16 - PORT_ID_WIDTH % 8)> _pad2;
    PortId_t port_num;
    bit<16> packet_id;
}

header pktgen_recirc_header_t {
    @padding bit<3> _pad1;
    bit<2>  pipe_id;
    bit<3>  app_id;
    bit<24> key;
    bit<16> packet_id;
}

#endif
