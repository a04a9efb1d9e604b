// my_aqm: a queue management for bmv2's simple_switch (v1model), to begin with.
//
//   parser -> forward (by ingress port) -> queue of the egress port -> MyAqm -> port
//
// While packets wait for TARGET or longer, it drops one of them every SPACING. That is all; CoDel
// would shorten the spacing from drop to drop (p4/v1model/aqm/codel.p4 of Sojourn).
#include <core.p4>
#include <v1model.p4>

// Others are had with `-D TARGET=1000`.
#ifndef TARGET
#define TARGET 5000             // us
#endif
#ifndef SPACING
#define SPACING 20000           // us
#endif

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {}

parser MyParser(
        packet_in packet,
        out headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control MyIngress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {

    action send(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

    // Filled by the control plane: where packets of each port go.
    table forward {
        key = { standard_metadata.ingress_port : exact; }
        actions = { send; drop; }
        default_action = drop();
    }

    apply {
        forward.apply();
    }
}

// Behind the queue: only here is known how long a packet has waited, deq_timedelta in us.
control MyEgress(
        inout headers_t hdr,
        inout metadata_t md,
        inout standard_metadata_t standard_metadata) {

    register<bit<48>>(512) last_drop;       // us, for each egress port

    apply {
        bit<48> now = standard_metadata.egress_global_timestamp;
        bit<48> last;
        last_drop.read(last, (bit<32>) standard_metadata.egress_port);
        if (standard_metadata.deq_timedelta >= TARGET && now - last > SPACING) {
            last_drop.write((bit<32>) standard_metadata.egress_port, now);
            mark_to_drop(standard_metadata);
        }
    }
}

control MyVerify(inout headers_t hdr, inout metadata_t md) {
    apply {}
}

control MyUpdate(inout headers_t hdr, inout metadata_t md) {
    apply {}
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyUpdate(), MyDeparser()) main;
