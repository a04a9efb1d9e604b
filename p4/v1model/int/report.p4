// The egress of clones in ../int.p4: a Telemetry Report 2.0 around the packet's head.
//
// Must come behind hop.p4, whose measurement it sends.
#ifndef INT_REPORT_P4
#define INT_REPORT_P4

// A clone's egress: the report around it, cut behind the head.
control IntReport(
        inout headers_t hdr,
        in metadata_t md,
        in bit<32> node,
        inout standard_metadata_t standard_metadata) {

    REGISTER(bit<32>)(1) reports;       // sent so far
    bit<32> sequence;
    bit<8>  words;                      // Report Length

    // Filled at a sink: this switch's addresses on the collector's link, and the collector's.
    action report_to(bit<48> own, bit<48> next_hop, bit<32> source, bit<32> collector) {
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.report_ipv4.source = source;
        hdr.report_ipv4.destination = collector;
    }
    action drop() {
        mark_to_drop(standard_metadata);
    }
    table collector {
        actions = { report_to; drop; }
        default_action = drop();
    }

    action metadata_of_ingress() {
        hdr.report.metadata_bits = REPORT_TIME;
        hdr.report.metadata_words = 2;
        hdr.report_time.setValid();
        hdr.report_time.ingress_time_high = 0;
        hdr.report_time.ingress_time = md.ingress_time * 1000;
        words = TIME_REPORT_WORDS(hdr.int_shim);
    }
    action metadata_of_egress() {
        hdr.report.metadata_bits = REPORT_HOP;
        hdr.report.metadata_words = 7;
        words = HOP_REPORT_WORDS;
    }

    apply {
        reports.read(sequence, 0);
        reports.write(0, sequence + 1);

        hdr.report_group.setValid();
        hdr.report_group.version = 2;
        hdr.report_group.hardware = 0;
        hdr.report_group.sequence = sequence[21:0];
        hdr.report_group.node = node;

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
        if (standard_metadata.instance_type == INGRESS_CLONE) {
            metadata_of_ingress();
        } else {
            metadata_of_egress();
            IntHop.apply(hdr.report_hop, md);
        }
        hdr.report.length = words;

        hdr.report_ipv4.setValid();
        hdr.report_ipv4.version = 4;
        hdr.report_ipv4.header_length = 5;
        hdr.report_ipv4.dscp = 0;
        hdr.report_ipv4.ecn = 0;
        hdr.report_ipv4.total_length = REPORT_IPV4_BYTES + ((bit<16>)words << 2);
        hdr.report_ipv4.identification = 0;
        hdr.report_ipv4.flags = 2;      // do not fragment
        hdr.report_ipv4.fragment_offset = 0;
        hdr.report_ipv4.ttl = 64;
        hdr.report_ipv4.protocol = PROTOCOL_UDP;
        hdr.report_udp.setValid();
        hdr.report_udp.source_port = REPORT_PORT;
        hdr.report_udp.destination_port = REPORT_PORT;
        hdr.report_udp.length = REPORT_UDP_BYTES + ((bit<16>)words << 2);
        hdr.report_udp.checksum = 0;
        collector.apply();
        truncate(14 + REPORT_IPV4_BYTES + ((bit<32>)words << 2));
    }
}

#endif
