// Metadata that the switch hands to each block and takes back.
//
// Times are microseconds since the switch began.
#ifndef SOJOURN_PSA_METADATA_P4
#define SOJOURN_PSA_METADATA_P4

struct psa_ingress_parser_input_metadata_t {
    PortId_t         ingress_port;
    PSA_PacketPath_t packet_path;
}

struct psa_egress_parser_input_metadata_t {
    PortId_t         egress_port;
    PSA_PacketPath_t packet_path;
}

struct psa_ingress_input_metadata_t {
    PortId_t         ingress_port;
    PSA_PacketPath_t packet_path;
    Timestamp_t      ingress_timestamp;     // when this ingress pass began
    ParserError_t    parser_error;          // how the parser ended
}

// What ingress decides. Behind each field: its value when ingress begins.
struct psa_ingress_output_metadata_t {
    ClassOfService_t class_of_service;      // 0; selects the queue
    bool             clone;                 // false
    CloneSessionId_t clone_session_id;      // 0
    bool             drop;                  // true
    bool             resubmit;              // false
    MulticastGroup_t multicast_group;       // 0, for none
    PortId_t         egress_port;           // 0
}

struct psa_egress_input_metadata_t {
    ClassOfService_t class_of_service;
    PortId_t         egress_port;
    PSA_PacketPath_t packet_path;
    EgressInstance_t instance;              // which copy of a multicast group this is
    Timestamp_t      egress_timestamp;      // when egress began, behind the queue
    ParserError_t    parser_error;
}

struct psa_egress_output_metadata_t {
    bool             clone;                 // false
    CloneSessionId_t clone_session_id;      // 0
    bool             drop;                  // false
}

struct psa_egress_deparser_input_metadata_t {
    PortId_t         egress_port;
}

// ---- Questions of the deparsers -----------------------------------------------------------

// A deparser assigns to one of its metadata parameters only where the function for it is true.

// clone_i2e_meta: istd.clone
@pure
extern bool psa_clone_i2e(in psa_ingress_output_metadata_t istd);
// resubmit_meta: !istd.drop && istd.resubmit
@pure
extern bool psa_resubmit(in psa_ingress_output_metadata_t istd);
// normal_meta: !istd.drop && !istd.resubmit
@pure
extern bool psa_normal(in psa_ingress_output_metadata_t istd);
// clone_e2e_meta: istd.clone
@pure
extern bool psa_clone_e2e(in psa_egress_output_metadata_t istd);
// recirculate_meta: !istd.drop, and the port is PSA_PORT_RECIRCULATE
@pure
extern bool psa_recirculate(in psa_egress_output_metadata_t istd,
                            in psa_egress_deparser_input_metadata_t edstd);

// ---- Decisions ----------------------------------------------------------------------------

// To one port. Neither this nor the next two change whether the packet is cloned.
@noWarn("unused")
action send_to_port(inout psa_ingress_output_metadata_t meta, in PortId_t egress_port) {
    meta.egress_port = egress_port;
    meta.multicast_group = (MulticastGroup_t) 0;
    meta.drop = false;
}

// To each port of a group.
@noWarn("unused")
action multicast(inout psa_ingress_output_metadata_t meta, in MulticastGroup_t multicast_group) {
    meta.multicast_group = multicast_group;
    meta.drop = false;
}

// Nowhere; it is not resubmitted either.
@noWarn("unused")
action ingress_drop(inout psa_ingress_output_metadata_t meta) {
    meta.drop = true;
}

@noWarn("unused")
action egress_drop(inout psa_egress_output_metadata_t meta) {
    meta.drop = true;
}

#endif
