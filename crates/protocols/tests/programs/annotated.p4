// What a schema repeats of a program: ids of its own, documentation, types of their own, objects.
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("example.org/port", 32)
type bit<9> PortId_t;
type bit<16> Group_t;

enum bit<8> Kind { FIRST = 1, SECOND = 0x20 }

@controller_header("packet_in")
header packet_in_h {
    bit<9> ingress_port;
    @id(5) bit<7> reason;
}

header data_h {
    bit<32> key;
    @name("amount") bit<16> value;
    Kind kind;
}

struct seen_t {
    bit<32> key;
    PortId_t port;
}

struct headers_t {
    data_h data;
    data_h[2] stack;
}

struct metadata_t {
    PortId_t port;
    Group_t group;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    value_set<bit<16>>(4) known;
    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.value) {
            known: more;
            default: accept;
        }
    }
    state more {
        packet.extract(hdr.stack.next);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply {} }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply {} }

control Inner(inout headers_t hdr) {
    direct_counter(CounterType.packets_and_bytes) hits;
    action mark(@id(3) bit<16> value, bit<8> unused) {
        hdr.data.value = value;
        hits.count();
    }
    table marked {
        key = { hdr.data.key : ternary; hdr.data.kind : exact @id(7); }
        actions = { mark; @defaultonly NoAction; }
        counters = hits;
        const default_action = NoAction();
        size = 64;
    }
    apply { marked.apply(); }
}

@brief("Ingress.")
control In(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<48>>(128) last;
    @max_group_size(8)
    action_selector(HashAlgorithm.crc32, 16, 10) ways;
    Inner() inner;

    @brief("Sends it on.")
    @description("To one port.")
    action send(PortId_t port) { standard.egress_spec = (bit<9>)port; }
    action learn() { digest<seen_t>(1, { hdr.data.key, meta.port }); }

    @id(0x123456)
    table forward {
        key = {
            meta.port : exact @name("port");
            hdr.stack[1].key : lpm;
            hdr.data.value : selector;
        }
        actions = { send; learn; NoAction; }
        default_action = NoAction();
        implementation = ways;
        support_timeout = true;
    }
    table given {
        key = { hdr.data.key : exact; }
        actions = { send; NoAction; }
        default_action = send((PortId_t)511);
        const entries = { 5 : send((PortId_t)1); }
    }
    table chosen {
        key = { hdr.data.value : exact; hdr.stack[0].value & 0x0FF : exact; hdr.data.isValid() : exact; }
        actions = { NoAction; }
        default_action = NoAction();
    }
    apply {
        forward.apply();
        chosen.apply();
        inner.apply(hdr);
        given.apply();
        last.write(0, standard.ingress_global_timestamp);
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    meter(32, MeterType.bytes) rate;
    apply {
        bit<2> color = 0;
        rate.execute_meter<bit<2>>(0, color);
    }
}

control Emit(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.data); } }

@pkginfo(name="annotated.p4", version="3")
V1Switch(P(), Verify(), In(), Out(), Compute(), Emit()) main;
