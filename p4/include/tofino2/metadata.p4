// Intrinsic metadata of Tofino 2, as far as it is not that of Tofino 1. Field order is wire order
// where the type is a header.
#ifndef SOJOURN_TOFINO2_METADATA_P4
#define SOJOURN_TOFINO2_METADATA_P4

// ---- Requests to a deparser ---------------------------------------------------------------

// Each field has no effect until it is assigned. The fields of the second block replace what the
// mirror session has, for this packet.
#define SOJOURN_DEPARSER_REQUESTS \
    bit<1>  mirror_io_select;       /* copy the packet as received (0) or as deparsed (1) */ \
    bit<13> mirror_hash; \
    bit<3>  mirror_ingress_cos; \
    bit<1>  mirror_deflect_on_drop; \
    bit<1>  mirror_multicast_ctrl; \
    PortId_t  mirror_egress_port; \
    QueueId_t mirror_qid; \
    bit<8>  mirror_coalesce_length; /* units of 4 bytes */ \
    bit<32> adv_flow_ctl;           /* a word that pauses or resumes a queue */ \
    bit<14> mtu_trunc_len;          /* bytes: longer packets are cut */ \
    bit<1>  mtu_trunc_err_f;

@__intrinsic_metadata
struct ingress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;                // bit 0: no unicast, multicast, resubmit; bit 1: no copy to the CPU
    DigestType_t   digest_type;
    ResubmitType_t resubmit_type;
    MirrorType_t   mirror_type;
    SOJOURN_DEPARSER_REQUESTS
    bit<1>  pktgen;                 // start the packet generator; a resubmit takes precedence
    bit<14> pktgen_address;
    bit<10> pktgen_length;
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;                // bit 0: do not send; bit 2: do not mirror
    MirrorType_t mirror_type;
    bit<1> coalesce_flush;
    bit<7> coalesce_length;         // bytes of this packet to collect
    SOJOURN_DEPARSER_REQUESTS
}

// ---- Ghost thread -------------------------------------------------------------------------

// A report of the traffic manager about a queue, which the ghost control and ingress see.
@__intrinsic_metadata @__ghost_metadata
header ghost_intrinsic_metadata_t {
    bit<1>  ping_pong;              // each report comes twice: first 0, then 1
    bit<18> qlength;                // queue depth
    bit<11> qid;                    // 4 bits of port group, 7 of its queue
    bit<2>  pipe_id;
}

// ---- Egress -------------------------------------------------------------------------------

// In front of each packet in the egress parser: 28 bytes. Depths are in cells of 176 bytes.
@__intrinsic_metadata
header egress_intrinsic_metadata_t {
    @padding bit<(8 - PORT_ID_WIDTH % 8)> _pad0;
    PortId_t egress_port;
    @padding bit<5> _pad1;
    bit<19> enq_qdepth;             // queue depth when the packet was enqueued
    @padding bit<6> _pad2;
    bit<2>  enq_congest_stat;
    bit<32> enq_tstamp;             // ns >> timestamp_shift: without a shift it wraps after 4.29 s
    @padding bit<5> _pad3;
    bit<19> deq_qdepth;             // queue depth when it was dequeued
    @padding bit<6> _pad4;
    bit<2>  deq_congest_stat;
    bit<8>  app_pool_congest_stat;  // two bits for each of the four pools
    bit<32> deq_timedelta;          // time in the queue, same unit as enq_tstamp
    bit<16> egress_rid;             // replication id; 0 for unicast
    @padding bit<7> _pad5;
    bit<1>  egress_rid_first;       // first copy of that replication id
    @padding bit<(8 - QUEUE_ID_WIDTH % 8)> _pad6;
    QueueId_t egress_qid;           // queue of the port group
    @padding bit<5> _pad7;
    bit<3>  egress_cos;
    @padding bit<7> _pad8;
    bit<1>  deflection_flag;        // came by deflection on drop
    bit<16> pkt_length;             // bytes, frame check sequence included
    @padding bit<8> _pad9;
}

// ---- Packets that the chip makes itself ---------------------------------------------------

// In front of packets of the packet generator: started by a timer, by a port that went down, by a
// recirculated packet, by a deparser, by priority flow control.
header pktgen_timer_header_t {
    @padding bit<2> _pad1;
    bit<2>  pipe_id;
    bit<4>  app_id;
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_port_down_header_t {
    @padding bit<2> _pad1;
    bit<2>  pipe_id;
    bit<4>  app_id;
    @padding bit<(16 - PORT_ID_WIDTH % 8)> _pad2;
    PortId_t port_num;
    bit<16> packet_id;
}

header pktgen_recirc_header_t {
    @padding bit<2> _pad1;
    bit<2>  pipe_id;
    bit<4>  app_id;
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_deparser_header_t {
    @padding bit<2> _pad1;
    bit<2>  pipe_id;
    bit<4>  app_id;
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_pfc_header_t {
    @padding bit<2> _pad1;
    bit<2>  pipe_id;
    bit<4>  app_id;
    @padding bit<40> _pad2;
}

#endif
