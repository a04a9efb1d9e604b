// What a controller can meet: every kind of match, counters, meters, a selector, packets both ways.
#include <core.p4>
#include <v1model.p4>

const bit<9> CPU = 255;

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> unused;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> kind;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
}

struct learned_t {
    bit<48> mac;
    bit<9> port;
}

struct metadata_t {
    bit<16> hash;
    bit<8> first;
    bit<8> second;
    bit<8> color;
}

parser In(packet_in packet, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    value_set<bit<16>>(4) known;
    state start {
        transition select(s.ingress_port) {
            CPU: out_of_controller;
            default: ethernet;
        }
    }
    state out_of_controller {
        packet.extract(h.packet_out);
        transition ethernet;
    }
    state ethernet {
        packet.extract(h.ethernet);
        transition select(h.ethernet.kind) {
            known: accept;
            default: accept;
        }
    }
}

control Verify(inout headers_t h, inout metadata_t m) { apply { } }
control Compute(inout headers_t h, inout metadata_t m) { apply { } }

control Forward(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    counter(8, CounterType.packets_and_bytes) frames;
    meter(8, MeterType.packets) rates;
    register<bit<32>>(16) kept;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<8>>(MeterType.packets) paced;
    action_selector(HashAlgorithm.crc16, 64, 16) spread;

    action drop() { mark_to_drop(s); }
    action send(bit<9> port) { s.egress_spec = port; }
    action to_controller(bit<7> reason) {
        s.egress_spec = CPU;
        h.packet_in.setValid();
        h.packet_in.ingress_port = s.ingress_port;
        h.packet_in.reason = reason;
    }
    action learn() { digest<learned_t>(1, { h.ethernet.src, s.ingress_port }); }
    action set_first(bit<8> value) { m.first = value; }
    action set_second(bit<8> value) { m.second = value; }
    action copy(bit<16> group) {
        paced.read(m.color);
        s.mcast_grp = group;
    }

    table exact_t {
        key = { h.ethernet.dst: exact; }
        actions = { send; drop; to_controller; copy; NoAction; }
        counters = hits;
        meters = paced;
        size = 200000;
        support_timeout = true;
    }
    table ternary_t {
        key = { h.ethernet.src: ternary; h.ethernet.kind: range; s.ingress_port: optional; }
        actions = { send; drop; to_controller; NoAction; }
        size = 100;
    }
    table lpm_t {
        key = { h.ethernet.dst: lpm; }
        actions = { send; drop; NoAction; }
        size = 4;
        default_action = drop();
    }
    table spread_t {
        key = { h.ethernet.kind: exact; h.ethernet.dst: selector; h.ethernet.src: selector; }
        actions = { send; drop; }
        implementation = spread;
    }
    table const_t {
        key = { h.ethernet.kind: exact; }
        actions = { learn; NoAction; }
        const entries = { 0x88b5: learn(); }
        const default_action = NoAction();
    }
    table first_t {
        key = { h.ethernet.kind: exact; }
        actions = { set_first; NoAction; }
    }
    table second_t {
        key = { h.ethernet.kind: exact; }
        actions = { set_second; NoAction; }
    }

    apply {
        if (h.packet_out.isValid()) {
            s.egress_spec = h.packet_out.egress_port;
            h.packet_out.setInvalid();
        } else {
            frames.count((bit<32>) s.ingress_port);
            const_t.apply();
            first_t.apply();
            second_t.apply();
            // Written into the frame, so that whoever gets it sees which versions it has met.
            if (h.ethernet.kind == 0x88b6) {
                h.ethernet.src = 32w0 ++ m.first ++ m.second;
            }
            if (!exact_t.apply().hit) {
                if (!ternary_t.apply().hit) {
                    if (!spread_t.apply().hit) {
                        lpm_t.apply();
                    }
                }
            }
        }
    }
}

control Leave(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply { } }

control Out(packet_out packet, in headers_t h) {
    apply {
        packet.emit(h.packet_in);
        packet.emit(h.ethernet);
    }
}

V1Switch(In(), Verify(), Forward(), Leave(), Compute(), Out()) main;
