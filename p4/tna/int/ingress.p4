// Ingress of ../int.p4: routes, the watchlist of a source, the edges of a sink.
//
// Stage 0 routes and looks the packet up in the watchlist, stage 1 looks its port up among the edges,
// stage 2 takes INT out. Headers, constants and what travels to egress are ../int.p4's.
#ifndef INT_INGRESS_P4
#define INT_INGRESS_P4

struct ingress_headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
    ipv4_h     ipv4;
    // INT, extracted to be taken out: the last hop is in front.
    udp_h      int_udp;
    int_shim_h int_shim;
    int_md_h   int_md;
    pushed_h   pushed_4;
    pushed_h   pushed_3;
    pushed_h   pushed_2;
    pushed_h   pushed_1;
    ports_h    ports;
}

struct ingress_metadata_t {
    bit<1>  is_edge;                // the packet leaves where INT is unknown
    bit<1>  too_long;               // it has more of INT than can be taken out
    bit<16> int_bytes;              // all that INT added
    bit<8>  kind;                   // of the copy
    bit<48> arrival;
    MirrorId_t session;
}

parser IngressParser(
        packet_in packet,
        out ingress_headers_t hdr,
        out ingress_metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        md.too_long = 0;
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: look_at_ipv4;
            default: accept;
        }
    }
    state look_at_ipv4 {
        // Version and header length: 20 bytes, no options.
        transition select(packet.lookahead<bit<8>>()) {
            0x45: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        // No fragments: with INT in the first only, the packet could not be put together again.
        transition select(hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0 &&& 1, 0, PROTOCOL_TCP): parse_ports;
            (0 &&& 1, 0, PROTOCOL_UDP): look_at_udp;
            default: accept;
        }
    }
    state look_at_udp {
        transition select(packet.lookahead<bit<32>>()[15:0]) {
            INT_PORT: look_at_int;
            default: parse_ports;
        }
    }
    state look_at_int {
        // The shim's length, behind the 8 bytes of UDP and a byte.
        transition select(packet.lookahead<bit<80>>()[7:0]) {
            3:  begin_0;
            11: begin_1;
            19: begin_2;
            27: begin_3;
            35: begin_4;
            default: note_too_long;
        }
    }
    state note_too_long {
        md.too_long = 1;
        transition accept;
    }
    // UDP, shim and INT-MD have 24 bytes, a hop 32. The parser counts: a shift and a sum of fields of
    // different widths would take stages.
    state begin_0 { md.int_bytes = 24;  transition parse_int; }
    state begin_1 { md.int_bytes = 56;  transition parse_int; }
    state begin_2 { md.int_bytes = 88;  transition parse_int; }
    state begin_3 { md.int_bytes = 120; transition parse_int; }
    state begin_4 { md.int_bytes = 152; transition parse_int; }
    state parse_int {
        packet.extract(hdr.int_udp);
        packet.extract(hdr.int_shim);
        packet.extract(hdr.int_md);
        transition select(hdr.int_shim.length) {
            11: parse_1;
            19: parse_2;
            27: parse_3;
            35: parse_4;
            default: accept;
        }
    }
    state parse_4 { packet.extract(hdr.pushed_4); transition parse_3; }
    state parse_3 { packet.extract(hdr.pushed_3); transition parse_2; }
    state parse_2 { packet.extract(hdr.pushed_2); transition parse_1; }
    state parse_1 { packet.extract(hdr.pushed_1); transition accept; }
    state parse_ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control Ingress(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {

    Hash<bit<16>>(HashAlgorithm_t.CRC16) entropy;

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // To the next hop: our address and its address on that link.
    action send(PortId_t port, bit<48> own, bit<48> next_hop) {
        ig_tm_md.ucast_egress_port = port;
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table routes {
        key = { hdr.ipv4.destination : lpm; }
        actions = { send; drop; }
        const default_action = drop();
        size = 1024;
    }

    action begin_int(bit<8> hops) {
        hdr.bridge.hops = hops;
    }

    // Filled at a source: the packets to watch.
    table watchlist {
        key = {
            hdr.ipv4.source      : ternary;
            hdr.ipv4.destination : ternary;
            hdr.ipv4.protocol    : ternary;
        }
        actions = { begin_int; NoAction; }
        const default_action = NoAction();
        size = 256;
    }

    action leave() {
        md.is_edge = 1;
    }

    // Filled at source and sink: ports with hosts, which know nothing of INT. A packet that goes there
    // ends INT if it has any, and does not begin it.
    table edges {
        key = { ig_tm_md.ucast_egress_port : exact; }
        actions = { leave; NoAction; }
        const default_action = NoAction();
        size = 512;
    }

    // The sink's part: the packet as it was before the source.
    action end_int() {
        hdr.bridge.kind = KIND_END;
        hdr.bridge.discard = hdr.int_md.discard;
        hdr.ipv4.protocol = hdr.int_shim.protocol;
        hdr.ipv4.total_length = hdr.ipv4.total_length - md.int_bytes;
        hdr.int_udp.setInvalid();
        hdr.int_shim.setInvalid();
        hdr.int_md.setInvalid();
        hdr.pushed_4.setInvalid();
        hdr.pushed_3.setInvalid();
        hdr.pushed_2.setInvalid();
        hdr.pushed_1.setInvalid();
        ig_dprsr_md.mirror_type = TIME_MIRROR;
        md.session = TIME_SESSION;
        md.kind = KIND_TIME;
        md.arrival = ig_intr_md.ingress_mac_tstamp;
    }
    apply {
        hdr.bridge.setValid();
        hdr.bridge.kind = KIND_DATA;
        hdr.bridge.hops = 0;
        hdr.bridge.unused = 0;
        hdr.bridge.discard = 0;
        hdr.bridge.unused_too = 0;
        md.is_edge = 0;
        hdr.bridge.ingress_port = (bit<16>)ig_intr_md.ingress_port;
        hdr.bridge.arrival = ig_intr_md.ingress_mac_tstamp;
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            routes.apply();
        } else {
            drop();
        }
        if (hdr.ports.isValid()) {
            hdr.bridge.entropy = entropy.get({ hdr.ipv4.source, hdr.ipv4.destination,
                hdr.ipv4.protocol, hdr.ports.source, hdr.ports.destination });
            watchlist.apply();
        }
        edges.apply();
        if (md.is_edge == 1) {
            hdr.bridge.hops = 0;
            if (hdr.int_shim.isValid()) {
                end_int();
            } else if (md.too_long == 1) {
                drop();
            }
        }
    }
}

control IngressDeparser(
        packet_out packet,
        inout ingress_headers_t hdr,
        in ingress_metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;
    Mirror() arrived;               // with its type in brackets, p4c refuses it in ingress

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        if (ig_dprsr_md.mirror_type == TIME_MIRROR) {
            arrived.emit<time_mirror_h>(md.session, { md.kind, md.arrival });
        }
        packet.emit(hdr);
    }
}

#endif
