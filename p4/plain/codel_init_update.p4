// The hypothetical CoDel of the CoDel-ACT paper's section IV.A (Figures 4, 5, 9 and 10): codel_init
// and codel_update as RegisterActions on the registers that they share. No Tofino can hold it.
//
//   codel_init     count             -> drop_next     (Listing 1, lines 7 to 13)
//   codel_update   drop_next         -> count         (Listing 2, lines 3 to 6)
//
// There is no lastCount: `chosen` is count itself, without lines 7 to 12 of Listing 1, and the interval
// is a constant. count and drop_next alone show both reasons, and nothing else is refused.
//
// As it stands, the two need count and drop_next in opposite order, so each would have to be in two
// stages: reason 1 of the paper (T1102). With TWICE defined, codel_init also writes count after its
// condition, in a second access: reason 2 (T0701). `sojourn check` says so.
#include <core.p4>
#include <tna.p4>
#include "../tna/common/ingress.p4"

#define TARGET      5000000             // ns
#define INTERVAL    100000000           // ns

struct egress_headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
}

struct egress_metadata_t {}

parser EgressParser(
        packet_in packet,
        out egress_headers_t hdr,
        out egress_metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        packet.extract(hdr.bridge);
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(
        inout egress_headers_t hdr,
        inout egress_metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {

    bit<32> now;                        // ns, modulo 2^32
    bit<32> delay;                      // ns, sojourn time
    bit<32> remainder;                  // ns, what is left up to TARGET
    bit<32> chosen;                     // count of codel_init
    bit<32> next;                       // ns: now + the time to the next drop
    bit<32> due;                        // 1: codel_update drops
    bit<1>  was_dropping;

    Register<bit<1>, PortId_t>(512) dropping;
    RegisterAction<bit<1>, PortId_t, bit<1>>(dropping) enter = {
        void apply(inout bit<1> state, out bit<1> before) {
            before = state;
            state = 1;
        }
    };
    RegisterAction<bit<1>, PortId_t, bit<1>>(dropping) leave = {
        void apply(inout bit<1> state, out bit<1> before) {
            before = state;
            state = 0;
        }
    };

    Register<bit<32>, PortId_t>(512) count;
    RegisterAction<bit<32>, PortId_t, bit<32>>(count) read_count = {
        void apply(inout bit<32> state, out bit<32> value) { value = state; }
    };
    RegisterAction<bit<32>, PortId_t, bit<32>>(count) start_count = {
        void apply(inout bit<32> state, out bit<32> value) {
            state = 1;
            value = 1;
        }
    };
    RegisterAction<bit<32>, PortId_t, bit<32>>(count) add_drop = {
        void apply(inout bit<32> state, out bit<32> value) {
            value = state;
            state = state + due;
        }
    };

    Register<bit<32>, PortId_t>(512) drop_next;
    RegisterAction<bit<32>, PortId_t, bit<32>>(drop_next) schedule = {
        void apply(inout bit<32> state, out bit<32> value) {
            value = state;
            state = next;
        }
    };
    RegisterAction<bit<32>, PortId_t, bit<32>>(drop_next) is_due = {
        void apply(inout bit<32> state, out bit<32> value) {
            value = 0;
            if ((int<32>)(now - state) >= 0) {
                state = state + INTERVAL;
                value = 1;
            }
        }
    };

    action measure() {
        now = eg_prsr_md.global_tstamp[31:0];
        delay = eg_prsr_md.global_tstamp[31:0] - hdr.bridge.arrival[31:0];
    }
    action compare() {
        remainder = TARGET |-| delay;
    }
    action add_spacing() {
        next = now + chosen;
    }

    apply {
        measure();
        compare();
        if (remainder == 0) {
            was_dropping = enter.execute(eg_intr_md.egress_port);
            if (was_dropping == 0) {
                // codel_init
                chosen = read_count.execute(eg_intr_md.egress_port);
#ifdef TWICE
                if (chosen == 0) {
                    chosen = start_count.execute(eg_intr_md.egress_port);
                }
#endif
                add_spacing();
                schedule.execute(eg_intr_md.egress_port);
            } else {
#ifndef TWICE
                // codel_update
                due = is_due.execute(eg_intr_md.egress_port);
                add_drop.execute(eg_intr_md.egress_port);
                if (due == 1) {
                    eg_dprsr_md.drop_ctl = 1;
                }
#endif
            }
        } else {
            leave.execute(eg_intr_md.egress_port);
        }
    }
}

control EgressDeparser(
        packet_out packet,
        inout egress_headers_t hdr,
        in egress_metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
