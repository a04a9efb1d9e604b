// Egress of ../int.p4: the headers of a source, the hop's measurement, reports, and the deparser.
//
// Must come behind egress_parser.p4.
#ifndef INT_EGRESS_P4
#define INT_EGRESS_P4

control Egress(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {

    Register<bit<32>, bit<1>>(1, 0) reports;        // sent so far by this pipe
    RegisterAction<bit<32>, bit<1>, bit<32>>(reports) next_report = {
        void apply(inout bit<32> value, out bit<32> sequence) {
            sequence = value;
            value = value + 1;
        }
    };
    bit<32> sequence;

    action number(bit<32> id) {
        md.node = id;
    }
    table this_node {
        actions = { number; }
        default_action = number(0);
        size = 1;
    }

    action measure() {
        md.ingress_port = hdr.bridge.ingress_port;
        md.egress_port = (bit<16>)eg_intr_md.egress_port;
        md.latency = eg_prsr_md.global_tstamp[31:0] - hdr.bridge.arrival[31:0];
        md.queue = (bit<8>)eg_intr_md.egress_qid;
        md.occupancy = (bit<24>)eg_intr_md.enq_qdepth;
        md.ingress_time = hdr.bridge.arrival;
        md.egress_time = eg_prsr_md.global_tstamp;
    }

    // The source's part: the headers that carry INT, and an empty stack.
    action begin_int() {
        hdr.int_udp.setValid();
        hdr.int_udp.source_port = hdr.bridge.entropy;
        hdr.int_udp.destination_port = INT_PORT;
        hdr.int_udp.length = hdr.ipv4.total_length + 4;     // - 20 + 8 + 4 + 12
        hdr.int_udp.checksum = 0;       // none, as the specification recommends
        hdr.int_shim.setValid();
        hdr.int_shim.type = INT_TYPE_MD;
        hdr.int_shim.npt = NPT_NEW_UDP;
        hdr.int_shim.reserved = 0;
        hdr.int_shim.length = INT_MD_WORDS;
        hdr.int_shim.reserved_too = 0;
        hdr.int_shim.protocol = hdr.ipv4.protocol;
        hdr.int_md.setValid();
        hdr.int_md.version = INT_VERSION;
        hdr.int_md.discard = 0;
        hdr.int_md.exceeded = 0;
        hdr.int_md.mtu_exceeded = 0;
        hdr.int_md.reserved = 0;
        hdr.int_md.hop_words = (bit<5>)HOP_WORDS;
        hdr.int_md.remaining_hops = hdr.bridge.hops;
        hdr.int_md.instructions = HOP_INSTRUCTIONS;
        hdr.int_md.domain = 0;
        hdr.int_md.domain_instructions = 0;
        hdr.int_md.domain_flags = 0;
        hdr.ipv4.total_length = hdr.ipv4.total_length + 24; // 8 + 4 + 12
        hdr.ipv4.protocol = PROTOCOL_UDP;
    }

    // Each hop's part: its measurement onto the stack.
    action push_hop() {
        hdr.int_md.remaining_hops = hdr.int_md.remaining_hops - 1;
        hdr.int_node.setValid();
        hdr.int_node.node = md.node;
        hdr.int_hop.setValid();
        hdr.int_hop.ingress_port = md.ingress_port;
        hdr.int_hop.egress_port = md.egress_port;
        hdr.int_hop.latency = md.latency;
        hdr.int_hop.queue = md.queue;
        hdr.int_hop.occupancy = md.occupancy;
        hdr.int_hop.ingress_time_high = 0;
        hdr.int_hop.ingress_time = md.ingress_time;
        hdr.int_hop.egress_time_high = 0;
        hdr.int_hop.egress_time = md.egress_time;
        hdr.int_shim.length = hdr.int_shim.length + HOP_WORDS;
        hdr.int_udp.length = hdr.int_udp.length + 32;
        hdr.ipv4.total_length = hdr.ipv4.total_length + 32;
    }

    // The sink's part: a copy with the measurement.
    action copy_hop() {
        eg_dprsr_md.mirror_type = HOP_MIRROR;
        md.session = HOP_SESSION;
        md.kind = KIND_HOP;
    }

    // What all reports have in front of their metadata.
    action begin_report() {
        hdr.report_group.setValid();
        hdr.report_group.version = 2;
        hdr.report_group.hardware = 0;
        hdr.report_group.node = md.node;
        hdr.report.setValid();
        hdr.report.type = 1;
        hdr.report.inner = 4;
        hdr.report.dropped = 0;
        hdr.report.congested = 0;
        hdr.report.tracked = 1;
        hdr.report.intermediate = 0;
        hdr.report.reserved = 0;
        hdr.report.domain = 0;
        hdr.report.domain_bits = 0;
        hdr.report.domain_status = 0;
        hdr.report_ipv4.setValid();
        hdr.report_ipv4.version = 4;
        hdr.report_ipv4.header_length = 5;
        hdr.report_ipv4.dscp = 0;
        hdr.report_ipv4.ecn = 0;
        hdr.report_ipv4.identification = 0;
        hdr.report_ipv4.flags = 2;      // do not fragment
        hdr.report_ipv4.fragment_offset = 0;
        hdr.report_ipv4.ttl = 64;
        hdr.report_ipv4.protocol = PROTOCOL_UDP;
        hdr.report_udp.setValid();
        hdr.report_udp.source_port = REPORT_PORT;
        hdr.report_udp.destination_port = REPORT_PORT;
        hdr.report_udp.checksum = 0;
    }
    action report_time() {
        hdr.report.length = hdr.int_shim.length + 14;
        hdr.report.metadata_words = 2;
        hdr.report.metadata_bits = REPORT_TIME;
        hdr.report_time.setValid();
        hdr.report_time.ingress_time_high = 0;
        hdr.report_time.ingress_time = hdr.time_mirror.arrival;
        hdr.report_udp.length = md.stack_bytes + (REPORT_UDP_BYTES + 56);
        hdr.report_ipv4.total_length = md.stack_bytes + (REPORT_IPV4_BYTES + 56);
    }
    action report_hop() {
        hdr.report.length = HOP_REPORT_WORDS;
        hdr.report.metadata_words = 7;
        hdr.report.metadata_bits = REPORT_HOP;
        hdr.report_hop.setValid();
        hdr.report_hop.ingress_port = hdr.hop_mirror.ingress_port;
        hdr.report_hop.egress_port = hdr.hop_mirror.egress_port;
        hdr.report_hop.latency = hdr.hop_mirror.latency;
        hdr.report_hop.queue = hdr.hop_mirror.queue;
        hdr.report_hop.occupancy = hdr.hop_mirror.occupancy;
        hdr.report_hop.ingress_time_high = 0;
        hdr.report_hop.ingress_time = hdr.hop_mirror.ingress_time;
        hdr.report_hop.egress_time_high = 0;
        hdr.report_hop.egress_time = hdr.hop_mirror.egress_time;
        hdr.report_udp.length = REPORT_UDP_BYTES + (HOP_REPORT_WORDS << 2);
        hdr.report_ipv4.total_length = REPORT_IPV4_BYTES + (HOP_REPORT_WORDS << 2);
    }

    // Filled at a sink: this switch's addresses on the collector's link, and the collector's.
    action report_to(bit<48> own, bit<48> next_hop, bit<32> source, bit<32> collector) {
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.report_ipv4.source = source;
        hdr.report_ipv4.destination = collector;
    }
    action drop() {
        eg_dprsr_md.drop_ctl = 1;
    }
    table collector {
        actions = { report_to; drop; }
        default_action = drop();
        size = 1;
    }

    apply {
        this_node.apply();
        if (hdr.bridge.isValid()) {
            measure();
            if (hdr.bridge.kind == KIND_END) {
                copy_hop();
                if (hdr.bridge.discard == 1) {
                    drop();
                }
            } else {
                if (hdr.bridge.hops != 0) {
                    begin_int();
                }
                if (hdr.int_md.isValid()) {
                    if (hdr.int_md.remaining_hops == 0) {
                        hdr.int_md.exceeded = 1;
                    } else if (hdr.int_md.version == INT_VERSION && hdr.int_shim.type == INT_TYPE_MD
                            && hdr.int_md.instructions == HOP_INSTRUCTIONS
                            && hdr.int_md.domain_instructions == 0) {
                        push_hop();
                    }
                }
            }
        } else {
            begin_report();
            sequence = next_report.execute(0);
            hdr.report_group.sequence = sequence[21:0];
            if (hdr.time_mirror.isValid()) {
                report_time();
            } else {
                report_hop();
            }
            collector.apply();
        }
        hdr.bridge.setInvalid();
        hdr.time_mirror.setInvalid();
        hdr.hop_mirror.setInvalid();
    }
}

control EgressDeparser(
        packet_out packet,
        inout egress_headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Checksum() ipv4_checksum;
    Checksum() report_checksum;
    Mirror(HOP_MIRROR) measured;

    apply {
        if (hdr.report_ipv4.isValid()) {
            hdr.report_ipv4.header_checksum = report_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.report_ipv4));
        }
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        if (eg_dprsr_md.mirror_type == HOP_MIRROR) {
            measured.emit<hop_mirror_h>(md.session, {
                md.kind, md.ingress_port, md.egress_port, md.latency, md.queue, md.occupancy,
                md.ingress_time, md.egress_time });
        }
        packet.emit(hdr);
    }
}

#endif
