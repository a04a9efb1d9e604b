// BLUE by delay on Tofino: packets of the packet generator change the drop probability, one each 16 ms.
//
// W. Feng, K. Shin, D. Kandlur, D. Saha: "The BLUE Active Queue Management Algorithms", IEEE/ACM
// Transactions on Networking 10(4), 2002: the probability rises while the queue is too long and falls
// while it is idle. Here its delay decides, and a timer in place of a freeze time.
//
//   ingress   data packet:   forward (by ingress port), bridge header with the time -> queue
//             timer packet:  its header off -> egress of its own port, where no queue builds
//   egress    data packet:   [delay] = time in the queue;  p = [probability];  dropped if p > dice
//             timer packet:  [delay] -> above TARGET or not -> [probability] +- STEP;  ends
//
//   state        read by        written by
//   delay        timer packets  data packets: their own; timer packets: 0, so an idle queue reads 0
//   probability  data packets   timer packets
//
// Control plane: timer_blue.toml has the wire between two ports and the timer. Contents of a timer
// packet begin with the number of the port whose probability it changes.
#include <core.p4>
#include "common/chip.p4"
#include "common/headers.p4"

#if __TARGET_TOFINO__ == 2
#define GENERATOR_PORT 6
#else
#define GENERATOR_PORT 68
#endif

const bit<8>  KIND_TIMER = 1;
const bit<32> TARGET = 5000000;         // ns
const bit<16> STEP   = 164;             // 2^-16: a quarter of a percent

// In front of each packet from ingress to egress.
header bridge_h {
    bit<8>  kind;
    bit<32> arrival;                    // ns; data packets only
}

// The begin of a timer packet's contents.
header update_h {
    bit<16> port;
}

struct ingress_headers_t {
    bridge_h   bridge;
    pktgen_timer_header_t timer;
    update_h   update;
    ethernet_h ethernet;
}

struct metadata_t {}

parser IngressParser(
        packet_in packet,
        out ingress_headers_t hdr,
        out metadata_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            GENERATOR_PORT: parse_timer;
            default: parse_data;
        }
    }
    state parse_timer {
        packet.extract(hdr.timer);
        packet.extract(hdr.update);
        transition accept;
    }
    state parse_data {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Ingress(
        inout ingress_headers_t hdr,
        inout metadata_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {

    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
        hdr.bridge.setValid();
        hdr.bridge.kind = KIND_DATA;
        hdr.bridge.arrival = ig_prsr_md.global_tstamp[31:0];
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table forward {
        key = { ig_intr_md.ingress_port : exact; }
        actions = { send; drop; }
        const default_action = drop();
        size = 512;
    }

    apply {
        if (hdr.timer.isValid()) {
            ig_tm_md.ucast_egress_port = GENERATOR_PORT;
            hdr.bridge.setValid();
            hdr.bridge.kind = KIND_TIMER;
        } else {
            forward.apply();
        }
    }
}

control IngressDeparser(
        packet_out packet,
        inout ingress_headers_t hdr,
        in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        packet.emit(hdr.bridge);
        packet.emit(hdr.update);
        packet.emit(hdr.ethernet);
    }
}

struct egress_headers_t {
    bridge_h   bridge;
    update_h   update;
    ethernet_h ethernet;
}

parser EgressParser(
        packet_in packet,
        out egress_headers_t hdr,
        out metadata_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        packet.extract(hdr.bridge);
        transition select(hdr.bridge.kind) {
            KIND_TIMER: parse_timer;
            default: parse_data;
        }
    }
    state parse_timer {
        packet.extract(hdr.update);
        transition accept;
    }
    state parse_data {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(
        inout egress_headers_t hdr,
        inout metadata_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {

    bit<16> port;
    bit<32> waited;                     // ns
    bit<32> above;                      // what the delay has above TARGET
    bit<16> p;                          // 2^-16
    bit<16> dice;
    bit<16> excess;                     // p - dice, or 0

    Random<bit<16>>() random;

    Register<bit<32>, bit<16>>(512) delay;
    RegisterAction<bit<32>, bit<16>, bit<32>>(delay) delay_set = {
        void apply(inout bit<32> state) {
            state = waited;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(delay) delay_take = {
        void apply(inout bit<32> state, out bit<32> word) {
            word = state;
            state = 0;
        }
    };
    action set_delay() { delay_set.execute(port); }
    action take_delay() { waited = delay_take.execute(port); }

    Register<bit<16>, bit<16>>(512) probability;
    RegisterAction<bit<16>, bit<16>, bit<16>>(probability) probability_raise = {
        void apply(inout bit<16> state) {
            state = state |+| STEP;
        }
    };
    RegisterAction<bit<16>, bit<16>, bit<16>>(probability) probability_lower = {
        void apply(inout bit<16> state) {
            state = state |-| STEP;
        }
    };
    RegisterAction<bit<16>, bit<16>, bit<16>>(probability) probability_read = {
        void apply(inout bit<16> state, out bit<16> word) {
            word = state;
        }
    };
    action raise() { probability_raise.execute(port); }
    action lower() { probability_lower.execute(port); }
    action read() { p = probability_read.execute(port); }

    action throw() { dice = random.get(); }
    action compare() { excess = p |-| dice; }
    action exceed() { above = waited |-| TARGET; }

    apply {
        if (hdr.update.isValid()) {
            port = hdr.update.port;
            take_delay();
            exceed();
            if (above != 0) {
                raise();
            } else {
                lower();
            }
            eg_dprsr_md.drop_ctl = 1;
        } else {
            port = (bit<16>) eg_intr_md.egress_port;
            waited = eg_prsr_md.global_tstamp[31:0] - hdr.bridge.arrival;
            set_delay();
            throw();
            read();
            compare();
            if (excess != 0) {
                eg_dprsr_md.drop_ctl = 1;
            }
        }
    }
}

control EgressDeparser(
        packet_out packet,
        inout egress_headers_t hdr,
        in metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        // Without the bridge header: it ends here.
        packet.emit(hdr.ethernet);
    }
}

#include "common/switch.p4"
