/* What a client of BfRt meets in a program: tables of every kind of match, an action profile with
 * groups, a register of pairs, counters, meters and filters, entries that may be idle for a time only,
 * a value set whose members are learnt, metadata of ports, a hash that is learnt. It forwards by exact
 * match. */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> kind;
}

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {
    bit<8> color;
    bit<1> learns;
    bit<16> group;
}

struct learnt_t {
    bit<48> src;
    bit<16> kind;
    bit<16> group;
}

struct port_t {
    bit<16> group;
    bit<8> color;
}

struct pair_t {
    bit<32> first;
    bit<32> second;
}

parser IgParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                out ingress_intrinsic_metadata_t ig) {
    value_set<bit<16>>(4) learnt_kinds;

    state start {
        packet.extract(ig);
        port_t port = port_metadata_unpack<port_t>(packet);
        packet.extract(hdr.ethernet);
        meta.color = 0;
        meta.learns = 0;
        meta.group = port.group;
        transition select(hdr.ethernet.kind) {
            learnt_kinds: learn;
            default: accept;
        }
    }
    state learn {
        meta.learns = 1;
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t to_deparser,
                inout ingress_intrinsic_metadata_for_tm_t to_tm) {
    Counter<bit<64>, bit<4>>(16, CounterType_t.PACKETS_AND_BYTES) seen;
    Meter<bit<4>>(16, MeterType_t.BYTES) rates;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) hits;
    RegisterParam<bit<32>>(100) step;
    DirectRegister<bit<32>>(9) meetings;
    DirectRegisterAction<bit<32>, bit<32>>(meetings) count_meeting = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    Register<pair_t, bit<6>>(64, { 5, 7 }) pairs;
    RegisterAction<pair_t, bit<6>, bit<32>>(pairs) count_pair = {
        void apply(inout pair_t value, out bit<32> result) {
            value.first = value.first + 1;
            value.second = value.second + step.read();
            result = value.first;
        }
    };
    Lpf<bit<8>, bit<4>>(16) means;
    DirectWred<bit<8>>(1, 0) early;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) mixed;
    ActionProfile(32) members;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 8, 4) groups;

    action send(PortId_t port) {
        to_tm.ucast_egress_port = port;
        hits.count();
    }
    action drop() {
        to_deparser.drop_ctl = 1;
        hits.count();
    }
    action mark(bit<8> color) {
        meta.color = color;
    }
    action mean() {
        meta.color = means.execute(meta.color, ig.ingress_port[3:0]);
    }
    action meet(bit<8> color) {
        meta.color = color;
        count_meeting.execute();
    }
    action mark_early() {
        meta.color = early.execute(meta.color);
    }
    action mix() {
        meta.group = mixed.get({ hdr.ethernet.dst, hdr.ethernet.src });
    }
    action replicate(bit<16> group) {
        to_tm.mcast_grp_a = group;
    }

    @dynamic_table_key_masks(1)
    table exact_t {
        key = { hdr.ethernet.dst : exact @name("dst"); }
        actions = { send; drop; }
        default_action = drop();
        counters = hits;
        size = 131072;
    }
    table lpm_t {
        key = { hdr.ethernet.src : lpm; }
        actions = { mark; NoAction; }
        default_action = NoAction();
        size = 64;
    }
    table ternary_t {
        key = {
            hdr.ethernet.src : ternary;
            hdr.ethernet.kind : range;
        }
        actions = { mark; NoAction; }
        default_action = NoAction();
        size = 64;
    }
    table chosen_t {
        key = {
            hdr.ethernet.kind : exact;
            hdr.ethernet.src : selector;
        }
        actions = { mark; replicate; @defaultonly NoAction; }
        default_action = NoAction();
        implementation = groups;
        size = 64;
    }

    table met_t {
        key = { hdr.ethernet.kind : exact; }
        actions = { meet; @defaultonly NoAction; }
        default_action = NoAction();
        registers = meetings;
        size = 64;
    }
    table aging_t {
        key = { hdr.ethernet.src : exact; }
        actions = { mark_early; @defaultonly NoAction; }
        default_action = NoAction();
        filters = early;
        idle_timeout = true;
        size = 64;
    }

    apply {
        seen.count(ig.ingress_port[3:0]);
        meta.color = (bit<8>) rates.execute(ig.ingress_port[3:0]);
        mean();
        aging_t.apply();
        met_t.apply();
        lpm_t.apply();
        ternary_t.apply();
        chosen_t.apply();
        count_pair.execute(ig.ingress_port[5:0]);
        exact_t.apply();
        if (hdr.ethernet.kind == 0xabcd) {
            mix();
        }
        if (meta.learns == 1) {
            to_deparser.digest_type = 1;
        }
        if (hdr.ethernet.kind == 0xc0c0) {
            to_tm.copy_to_cpu = 1;
        }
        to_tm.bypass_egress = 1;
    }
}

control IgDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                   in ingress_intrinsic_metadata_for_deparser_t to_deparser) {
    Digest<learnt_t>(1) learnt;

    apply {
        if (to_deparser.digest_type == 1) {
            learnt.pack({ hdr.ethernet.src, hdr.ethernet.kind, meta.group });
        }
        packet.emit(hdr.ethernet);
    }
}

struct nothing_t {}

parser EgParser(packet_in packet, out headers_t hdr, out nothing_t meta,
                out egress_intrinsic_metadata_t eg) {
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout nothing_t meta, in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t to_deparser,
               inout egress_intrinsic_metadata_for_output_port_t to_port) {
    apply {}
}

control EgDeparser(packet_out packet, inout headers_t hdr, in nothing_t meta,
                   in egress_intrinsic_metadata_for_deparser_t to_deparser) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

Pipeline(IgParser(), Ingress(), IgDeparser(), EgParser(), Egress(), EgDeparser()) pipe;
Switch(pipe) main;
