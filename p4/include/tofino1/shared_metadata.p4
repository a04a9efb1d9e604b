// Intrinsic metadata that all chips of the family have in the same form: what the chip's fixed
// parts hand to the program and get back. Field order is wire order where the type is a header.
#ifndef SOJOURN_TOFINO1_SHARED_METADATA_P4
#define SOJOURN_TOFINO1_SHARED_METADATA_P4

// In front of each packet in the ingress parser: 8 bytes, followed by PORT_METADATA_SIZE bits.
@__intrinsic_metadata
header ingress_intrinsic_metadata_t {
    bit<1>  resubmit_flag;          // 1: second pass of a packet that was resubmitted
    @padding bit<1> _pad1;
    bit<2>  packet_version;
    @padding bit<(4 - PORT_ID_WIDTH % 8)> _pad2;
    PortId_t ingress_port;
    bit<48> ingress_mac_tstamp;     // ns, IEEE 1588 clock, at the MAC
}

@__intrinsic_metadata
struct ingress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;          // ns, chip-wide counter, when the ingress parser began;
                                    // wraps after 78 h, its lower 32 bits after 4.29 s
    bit<32> global_ver;
    bit<16> parser_err;             // PARSER_ERROR_* bits
}

// The order to the traffic manager.
@__intrinsic_metadata
struct ingress_intrinsic_metadata_for_tm_t {
    PortId_t ucast_egress_port;     // not valid until assigned: then one unicast copy
    bit<1>  bypass_egress;          // skip the egress pass
    bit<1>  deflect_on_drop;
    bit<3>  ingress_cos;            // selects buffer accounting and PFC on the ingress side
    QueueId_t qid;                  // queue at the egress port
    bit<3>  icos_for_copy_to_cpu;
    bit<1>  copy_to_cpu;
    bit<2>  packet_color;           // for colour-aware tail drop
    bit<1>  disable_ucast_cutthru;
    bit<1>  enable_mcast_cutthru;
    MulticastGroupId_t mcast_grp_a; // not valid until assigned: then copies by the group's tree
    MulticastGroupId_t mcast_grp_b;
    bit<13> level1_mcast_hash;      // choose among members at the two levels of the tree
    bit<13> level2_mcast_hash;
    L1ExclusionId_t level1_exclusion_id;    // prune copies at the two levels
    L2ExclusionId_t level2_exclusion_id;
    bit<16> rid;                    // replication id
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;          // the same counter as in ingress, when the egress parser began
    bit<32> global_ver;
    bit<16> parser_err;
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_for_output_port_t {
    bit<1> capture_tstamp_on_tx;    // MAC: keep the departure time
    bit<1> update_delay_on_tx;      // MAC: add the residence time (IEEE 1588 transparent clock)
}

// In front of a packet whose PTP fields the egress MAC shall correct.
header ptp_metadata_t {
    bit<8>  udp_cksum_byte_offset;
    bit<8>  cf_byte_offset;
    bit<48> updated_cf;
}

#endif
