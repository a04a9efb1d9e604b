// my_aqm: a queue management for the Portable Switch Architecture (PSA), to begin with.
//
//   parser -> forward (by ingress port) -> deparser -> queue of the egress port -> MyAqm -> port
//
// PSA gives a program no queue depth. The deparser of ingress therefore sends the time along in
// `normal_meta`, and egress subtracts it: the difference is the time in the queue. While packets wait
// for TARGET or longer, MyEgress drops one of them every SPACING.
#include <core.p4>
#include <psa.p4>

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

struct metadata_t {
    bit<64> enqueued;           // us
}

struct sent_along_t {
    bit<64> enqueued;
}

struct empty_t {}

parser MyParser(
        packet_in packet,
        out headers_t hdr,
        inout metadata_t md,
        in psa_ingress_parser_input_metadata_t istd,
        in empty_t resubmit_meta,
        in empty_t recirculate_meta) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control MyIngress(
        inout headers_t hdr,
        inout metadata_t md,
        in    psa_ingress_input_metadata_t istd,
        inout psa_ingress_output_metadata_t ostd) {

    action send(PortId_t port) {
        send_to_port(ostd, port);
    }

    action drop() {
        ingress_drop(ostd);
    }

    // Filled by the control plane: where packets of each port go.
    table forward {
        key = { istd.ingress_port : exact; }
        actions = { send; drop; }
        default_action = drop();
    }

    apply {
        md.enqueued = (TimestampUint_t) istd.ingress_timestamp;
        forward.apply();
    }
}

control MyDeparser(
        packet_out packet,
        out empty_t clone_i2e_meta,
        out empty_t resubmit_meta,
        out sent_along_t normal_meta,
        inout headers_t hdr,
        in metadata_t md,
        in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_normal(istd)) {
            normal_meta.enqueued = md.enqueued;
        }
        packet.emit(hdr.ethernet);
    }
}

parser MyEgressParser(
        packet_in packet,
        out headers_t hdr,
        inout metadata_t md,
        in psa_egress_parser_input_metadata_t istd,
        in sent_along_t normal_meta,
        in empty_t clone_i2e_meta,
        in empty_t clone_e2e_meta) {
    state start {
        md.enqueued = normal_meta.enqueued;
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

// Behind the queue: only here is known how long a packet has waited.
control MyEgress(
        inout headers_t hdr,
        inout metadata_t md,
        in    psa_egress_input_metadata_t istd,
        inout psa_egress_output_metadata_t ostd) {

    Register<bit<64>, PortId_t>(512) last_drop;     // us, for each egress port

    apply {
        bit<64> now = (TimestampUint_t) istd.egress_timestamp;
        bit<64> last = last_drop.read(istd.egress_port);
        if (now - md.enqueued >= TARGET && now - last > SPACING) {
            last_drop.write(istd.egress_port, now);
            egress_drop(ostd);
        }
    }
}

control MyEgressDeparser(
        packet_out packet,
        out empty_t clone_e2e_meta,
        out empty_t recirculate_meta,
        inout headers_t hdr,
        in metadata_t md,
        in psa_egress_output_metadata_t istd,
        in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

IngressPipeline(MyParser(), MyIngress(), MyDeparser()) ip;
EgressPipeline(MyEgressParser(), MyEgress(), MyEgressDeparser()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
