// A time gate on Tofino 2: the queue towards port 2 is open half of the time.
//
// Each packet from port 1 writes a word of advanced flow control: it pauses the queue, or resumes it.
// Packets that the scheduler has taken go out, so the gate closes late by the delay of the request. A
// paused queue takes packets until it is full. No packet, no request: the gate stays as it is.
//
// On a chip the control plane also sets tf2.tm.pipe.sched_cfg advanced_flow_control_enable, and
// tf2.tm.queue.sched_cfg advanced_flow_control = XOFF.
//
// Stages: 3 of ingress. Control plane: none.
#include <core.p4>
#include <t2na.p4>

// Bits of the clock: 2^26 ns are 67 ms; the gate is open while bit 26 is 0.
#define GATE_BIT 26

// Bit 31, pipe 0, port group 0, queue 0 of port 2 (32 of the group), credit 1 to pause, 0 to resume.
const bit<32> PAUSE  = 0x80100001;
const bit<32> RESUME = 0x80100000;

struct headers_t { }
struct metadata_t { }

parser IngressParser(
        packet_in packet,
        out headers_t hdr,
        out metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        transition accept;
    }
}

control Ingress(
        inout headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {

    action pause() {
        ig_dprsr_md.adv_flow_ctl = PAUSE;
    }
    action resume() {
        ig_dprsr_md.adv_flow_ctl = RESUME;
    }
    table gate {
        key = { ig_prsr_md.global_tstamp[GATE_BIT:GATE_BIT] : exact; }
        actions = { pause; resume; }
        const default_action = resume();
        const entries = {
            1 : pause();
        }
        size = 2;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        if (ig_intr_md.ingress_port == 1) {
            ig_tm_md.ucast_egress_port = 2;
            gate.apply();
        } else {
            ig_tm_md.ucast_egress_port = 1;
        }
    }
}

control IngressDeparser(
        packet_out packet,
        inout headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        packet.emit(hdr);
    }
}

parser EgressParser(
        packet_in packet,
        out headers_t hdr,
        out metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(
        inout headers_t hdr,
        inout metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply { }
}

control EgressDeparser(
        packet_out packet,
        inout headers_t hdr,
        in metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply { }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
