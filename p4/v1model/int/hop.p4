// What ../int.p4 does with a packet in egress: the parts of a source, of each hop and of a sink.
//
// headers_t and metadata_t are ../int.p4's.
#ifndef INT_HOP_P4
#define INT_HOP_P4

// The source's part: the headers that carry INT, and an empty stack.
control IntSource(inout headers_t hdr, in metadata_t md) {

    apply {
        hdr.int_udp.setValid();
        // Paths of equal cost are chosen by ports: each flow keeps to its own.
        hash(hdr.int_udp.source_port, HashAlgorithm.crc16, 16w0,
             { hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol,
               hdr.ports.source, hdr.ports.destination }, 17w0x10000);
        hdr.int_udp.destination_port = INT_PORT;
        hdr.int_udp.length = hdr.ipv4.total_length - 20 + 8 + 4 + 12;
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
        hdr.int_md.remaining_hops = md.hops;
        hdr.int_md.instructions = HOP_INSTRUCTIONS;
        hdr.int_md.domain = 0;
        hdr.int_md.domain_instructions = 0;
        hdr.int_md.domain_flags = 0;

        hdr.ipv4.total_length = hdr.ipv4.total_length + 8 + 4 + 12;
        hdr.ipv4.protocol = PROTOCOL_UDP;
    }
}

// What this switch measured.
control IntHop(out int_hop_h hop, in metadata_t md) {

    apply {
        hop.setValid();
        hop.ingress_port = (bit<16>)md.ingress_port;
        hop.egress_port = (bit<16>)md.egress_port;
        hop.latency = (bit<32>)(md.egress_time - md.ingress_time) * 1000;
        hop.queue = md.queue;
        hop.occupancy = md.occupancy;
        hop.ingress_time_high = 0;
        hop.ingress_time = md.ingress_time * 1000;
        hop.egress_time_high = 0;
        hop.egress_time = md.egress_time * 1000;
    }
}

// Each hop's part: its measurement onto the stack, unless as many as the source allows are there.
control IntTransit(inout headers_t hdr, in metadata_t md, in bit<32> node) {

    apply {
        if (hdr.int_md.remaining_hops == 0) {
            hdr.int_md.exceeded = 1;
        } else if (hdr.int_md.version == INT_VERSION && hdr.int_shim.type == INT_TYPE_MD
                && hdr.int_md.instructions == HOP_INSTRUCTIONS && hdr.int_md.domain_instructions == 0) {
            hdr.int_md.remaining_hops = hdr.int_md.remaining_hops - 1;
            hdr.int_node.setValid();
            hdr.int_node.node = node;
            IntHop.apply(hdr.int_hop, md);
            hdr.int_shim.length = hdr.int_shim.length + HOP_WORDS;
            hdr.int_udp.length = hdr.int_udp.length + 32;
            hdr.ipv4.total_length = hdr.ipv4.total_length + 32;
        }
    }
}

// The sink's part: the packet as it was before the source.
control IntSink(inout headers_t hdr, inout standard_metadata_t standard_metadata) {

    apply {
        hdr.ipv4.protocol = hdr.int_shim.protocol;
        hdr.ipv4.total_length = hdr.ipv4.total_length - 12 - ((bit<16>)hdr.int_shim.length << 2);
        if (hdr.int_md.discard == 1) {
            mark_to_drop(standard_metadata);
        }
        hdr.int_udp.setInvalid();
        hdr.int_shim.setInvalid();
        hdr.int_md.setInvalid();
        hdr.int_stack.setInvalid();
        clone_preserving_field_list(CloneType.E2E, REPORT_SESSION, AT_EGRESS);
    }
}

#endif
