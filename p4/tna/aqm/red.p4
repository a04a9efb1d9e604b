// RED on Tofino 1: drops in egress by the average length of the queue, which the chip's low-pass
// filter keeps.
//
// S. Floyd, V. Jacobson: "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
// Transactions on Networking 1(4), 1993, figures 2 and 17, with the gentle variant of 2000. Names
// are the paper's.
//
//   stage  does                 for the next        with, from the stages before
//     0    scale the depth      depth               cells behind the packet
//     1   [average]             avg                 depth
//     2    avg in units         avg_units           avg
//     3    early_probability    p_b, verdict        avg_units
//     4   [remaining]           drop                p_b, a random number
//
//   state      read by            written by
//   average    every packet       every packet: avg += w_q (q - avg)
//   remaining  every packet       a drop, and each packet below min_th: a random number R; each other
//                                 one: less p_b
//
// Figure 17 of the paper draws R when a packet is dropped and drops the next one when count * p_b
// has reached R, which spaces drops uniformly. A product of count is a sum of p_b, so one word holds
// R less that sum, and one comparison decides.
//
// Where it leaves the paper
//  * A packet is dropped behind the scheduler: its turn on the wire is spent. The average is taken
//    when packets leave, of what is behind them, and not when they arrive.
//  * The filter weighs a sample by the time since the last one, not by 1: w_q is the time of a
//    packet on the line over the filter's time constant, which the control plane sets (red.toml).
//    An idle queue needs no rule of its own: the average falls by the idle time.
//  * Queues are counted in cells of 80 bytes, 20 of which are a full frame, and not in packets: short
//    packets count less.
//  * p_b has steps: ten from min_th to max_th, ten from there to 2 max_th.
#ifndef AQM_RED_P4
#define AQM_RED_P4

#ifndef RED_MIN_TH
#define RED_MIN_TH  5                   // packets on average: nothing is dropped below
#endif
#ifndef RED_MAX_TH
#define RED_MAX_TH  15                  // packets on average: max_p is reached
#endif
#ifndef RED_MAX_P
#define RED_MAX_P   20000               // millionths: drop probability at max_th
#endif

#include "../common/chip.p4"
#define RED_PACKET_CELLS    FULL_FRAME_CELLS    // with its bridge header
#define RED_ONE             (1 << 32)   // probabilities are in 2^-32

// The step from `min_th` up, of ten, and the step from `max_th` up: in units of 4 cells.
#define RED_UNITS(step)     (RED_PACKET_CELLS * (10 * RED_MIN_TH + (step) * (RED_MAX_TH - RED_MIN_TH)) / 40)
#define RED_GENTLE(step)    (RED_PACKET_CELLS * RED_MAX_TH * (10 + (step)) / 40)
// Their probabilities, each in the middle of its step.
#define RED_P_B(step)       (RED_ONE * RED_MAX_P / 1000000 * (2 * (step) + 1) / 20)
#define RED_P_GENTLE(step)  (RED_ONE * RED_MAX_P / 1000000 + \
                             RED_ONE * (1000000 - RED_MAX_P) / 1000000 * (2 * (step) + 1) / 20)

const bit<8> RED_ACCEPT = 0;            // avg < min_th
const bit<8> RED_EARLY  = 1;
const bit<8> RED_FORCED = 2;            // avg >= 2 max_th

control Red(
        in egress_intrinsic_metadata_t eg_intr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {

    bit<16> queue;                      // index of the state
    bit<32> depth;                      // 2^-10 cells
    bit<32> avg;                        // 2^-10 cells
    bit<16> avg_units;                  // 4 cells: all 16 bits are more than the chip's buffer
    bit<32> p_b;
    bit<8>  verdict;                    // one of RED_*
    bit<32> thrown;
    bit<1>  hit;

    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) queue_number;
    Random<bit<32>>() random;

    // By itself: hash and random number of one action would not fit beside each other.
    action draw() {
        thrown = random.get();
    }

    // ---- Stage 1: the average --------------------------------------------------------------

    Lpf<bit<32>, bit<16>>(QUEUE_STATES) average;

    action filter() {
        avg = average.execute(depth, queue);
    }

    // ---- Stage 2 and 3: p_b ----------------------------------------------------------------

    action compute_avg_units() {
        avg_units = avg[27:12];
    }
    action accept() {
        p_b = 0;
        verdict = RED_ACCEPT;
    }
    action decide_by(bit<32> probability) {
        p_b = probability;
        verdict = RED_EARLY;
    }
    action force() {
        p_b = 0;
        verdict = RED_FORCED;
    }
    table early_probability {
        key = { avg_units : range; }
        actions = { accept; decide_by; force; }
        const default_action = force();
        const entries = {
            (0 .. RED_UNITS(0) - 1)               : accept();
            (RED_UNITS(0) .. RED_UNITS(1) - 1)    : decide_by(RED_P_B(0));
            (RED_UNITS(1) .. RED_UNITS(2) - 1)    : decide_by(RED_P_B(1));
            (RED_UNITS(2) .. RED_UNITS(3) - 1)    : decide_by(RED_P_B(2));
            (RED_UNITS(3) .. RED_UNITS(4) - 1)    : decide_by(RED_P_B(3));
            (RED_UNITS(4) .. RED_UNITS(5) - 1)    : decide_by(RED_P_B(4));
            (RED_UNITS(5) .. RED_UNITS(6) - 1)    : decide_by(RED_P_B(5));
            (RED_UNITS(6) .. RED_UNITS(7) - 1)    : decide_by(RED_P_B(6));
            (RED_UNITS(7) .. RED_UNITS(8) - 1)    : decide_by(RED_P_B(7));
            (RED_UNITS(8) .. RED_UNITS(9) - 1)    : decide_by(RED_P_B(8));
            (RED_UNITS(9) .. RED_UNITS(10) - 1)   : decide_by(RED_P_B(9));
            (RED_GENTLE(0) .. RED_GENTLE(1) - 1)  : decide_by(RED_P_GENTLE(0));
            (RED_GENTLE(1) .. RED_GENTLE(2) - 1)  : decide_by(RED_P_GENTLE(1));
            (RED_GENTLE(2) .. RED_GENTLE(3) - 1)  : decide_by(RED_P_GENTLE(2));
            (RED_GENTLE(3) .. RED_GENTLE(4) - 1)  : decide_by(RED_P_GENTLE(3));
            (RED_GENTLE(4) .. RED_GENTLE(5) - 1)  : decide_by(RED_P_GENTLE(4));
            (RED_GENTLE(5) .. RED_GENTLE(6) - 1)  : decide_by(RED_P_GENTLE(5));
            (RED_GENTLE(6) .. RED_GENTLE(7) - 1)  : decide_by(RED_P_GENTLE(6));
            (RED_GENTLE(7) .. RED_GENTLE(8) - 1)  : decide_by(RED_P_GENTLE(7));
            (RED_GENTLE(8) .. RED_GENTLE(9) - 1)  : decide_by(RED_P_GENTLE(8));
            (RED_GENTLE(9) .. RED_GENTLE(10) - 1) : decide_by(RED_P_GENTLE(9));
        }
        size = 32;
    }

    // ---- Stage 4: whether the sum of p_b has reached R --------------------------------------

    Register<bit<32>, bit<16>>(QUEUE_STATES) remaining;
    RegisterAction<bit<32>, bit<16>, bit<1>>(remaining) count = {
        void apply(inout bit<32> state, out bit<1> reached) {
            reached = 0;
            if (state < p_b) {
                state = thrown;
                reached = 1;
            } else {
                state = state - p_b;
            }
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(remaining) restart = {
        void apply(inout bit<32> state) {
            state = thrown;
        }
    };
    action count_packet() {
        hit = count.execute(queue);
    }
    action restart_count() {
        restart.execute(queue);
    }

    action drop_packet() {
        eg_dprsr_md.drop_ctl = 1;
    }

    apply {
        // Stage 0
        queue = queue_number.get(QUEUE_NUMBER_FIELDS(eg_intr_md));
        depth = 3w0 ++ eg_intr_md.deq_qdepth ++ 10w0;
        draw();
        hit = 0;
        // Stage 1
        filter();
        // Stage 2 and 3
        compute_avg_units();
        early_probability.apply();
        // Stage 4 and 5
        if (verdict == RED_EARLY) {
            count_packet();
        } else {
            restart_count();
        }
        if (hit == 1 || verdict == RED_FORCED) {
            drop_packet();
        }
    }
}

#endif
