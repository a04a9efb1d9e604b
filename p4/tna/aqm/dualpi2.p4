// DualPI2 on Tofino 1: marks and drops in egress, by a probability that generated packets update.
//
// K. De Schepper, B. Briscoe, G. White: RFC 9332, "Dual-Queue Coupled Active Queue Management (AQM) for
// Low Latency, Low Loss, and Scalable Throughput (L4S)", appendix A. Names in comments are the RFC's.
//
//   stage  does                             for the next     with, from the stages before
//     0    waited                             waited           times of the packet
//     1   [l_delay]                           waited           an update takes the older head's
//          numbers, ramp                      first, second    the random numbers
//     2    at most LONGEST                    waited
//     3    shifts                                              waited
//    4-5   beta delay, alpha (delay - TARGET) beta, alpha      shifts
//     6   [previous]                          beta             beta: that of the update before
//     7    the change                         first            alpha + beta delay less beta
//     8   [base]                              verdict          first, second: two comparisons
//     9    decide                             signal, drop     verdict, ramp, ECN
//
//   state     read by        written by
//   l_delay   updates        L4S packets: their delay; updates: 0, so an idle queue reads 0
//   previous  updates        updates: beta times the delay
//   base      data packets   updates: p', the base probability
//
// Updates. The packet generator sends a packet through the Classic queue each T_UPDATE. Its own sojourn time
// is the age of the Classic head when it leaves; an empty queue reads 0. The L4S delay is that of the last L4S
// packet since the update before (appendix A.2 takes the older of both heads). All packets read p' in the stage
// where an update writes it, so nothing is mirrored or recirculated.
//
// Coupling and square. Of two random numbers, a Classic packet is signalled if the larger is below p', so
// with p'^2; an L4S packet if half of the first is, so with 2 p'. One stateful ALU makes both comparisons of a
// packet; the other one tests for overload, p' >= 1/2: an L4S packet is dropped if the larger number is below p', and
// every other one is marked; a Classic one is dropped, whatever its ECN field says (section 4.2.3).
//
// Numbers. p' is stored less 2^31 in a signed word, so that one saturating addition keeps it within 0 and 1.
//
// Gains. alpha = 11/16 and beta = 55/4 of 2^-32 a ns: 0.16007 and 3.2014 Hz. Linux has 0.16016 and 3.1992 Hz
// for the same T_UPDATE, the RFC's formulas 0.16 and 3 (its text 3.2) Hz.
//
// Where it leaves RFC 9332
//  * An update takes place when its packet leaves the Classic queue, so T_UPDATE and the change of the delay apart.
//  * A packet is dropped behind the scheduler: its turn on the wire is spent.
//  * The ramp is 2^19 ns wide (524 us, as DOCSIS has it), so that it is a comparison with 19 random bits.
//  * Signals are drawn, as in Linux, not counted.
//  * No native mark with less than a full frame behind the packet; the RFC counts packets (Th_len).
//  * Delays above 140 ms count as that; a packet that waits longer than 4.29 s is misread.
//  * A full Classic queue drops updates, too.
#ifndef AQM_DUALPI2_P4
#define AQM_DUALPI2_P4

#include "../common/chip.p4"

#ifndef TARGET
#define TARGET          15000000        // ns: Classic delay to settle at
#endif
#ifndef DUALPI2_MIN_TH
#define DUALPI2_MIN_TH  800000          // ns: L4S delay from which the ramp rises
#endif

#define DUALPI2_LONGEST     140000000   // ns: changes of p' have 31 bits and a sign
#define DUALPI2_ZERO        (-32s0x7fffffff - 1)
#define DUALPI2_OVERLOAD    (-1)        // k p' >= 1 above it: k is 2
#define DUALPI2_REFERENCE   (TARGET / 16 * 11)

const bit<8> KIND_UPDATE = 1;           // a generated packet

const bit<8> DUALPI2_NONE = 0;          // signals
const bit<8> DUALPI2_MARK = 1;

control DualPi2(
        in bit<8> kind,                 // KIND_DATA or KIND_UPDATE
        in bit<32> arrival,             // ns, global_tstamp[31:0] of ingress
        in bit<48> departure,           // ns, global_tstamp of egress
        in bit<2> ecn,                  // of a data packet; its low bit says the queue
        in bit<32> one,                 // two random numbers
        in bit<32> other,
        inout bit<8> signal,            // one of DUALPI2_*
        in egress_intrinsic_metadata_t eg_intr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {

    bit<16> port;
    bit<8>  queued = 0;                 // more than a frame is behind this packet
    bit<32> waited;                     // sojourn time, ns; of an update then that of the older head
    bit<32> ramp_dice;                  // 19 bits
    bit<32> ramp = 0;                   // what an L4S packet waited beyond minTh and dice, or 0
    int<32> first;                      // number below p' for a signal; the change of p'
    int<32> second;                     // the same for overload
    bit<8>  verdict = 0;                // 1 << (first below p' + 2 * second below p')

    // Of an update. A field changes in place, because the sums of one chain share 16 containers.
    bit<32> beta;                       // beta delay, then that of the update before
    bit<32> alpha;                      // alpha (delay - TARGET), then with beta delay
    bit<32> twice;
    bit<32> quarter;
    bit<32> eighth;

    // ---- Stage 0 ---------------------------------------------------------------------------

    action compute_waited() { waited = departure[31:0] - arrival; }
    action see_queue() { queued = 1; }
    action see_no_queue() { queued = 0; }
    table depth {
        key = { eg_intr_md.deq_qdepth : range; }
        actions = { see_queue; see_no_queue; }
        const default_action = see_queue();
        const entries = {
            (0 .. FULL_FRAME_CELLS) : see_no_queue();
        }
        size = 1;
    }

    // ---- Stages 1 and 2: the older head's delay; the ramp ------------------------------------

    Register<bit<32>, bit<16>>(512) l_delay;
    RegisterAction<bit<32>, bit<16>, bit<32>>(l_delay) l_delay_set = {
        void apply(inout bit<32> state) {
            state = waited;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(l_delay) l_delay_take = {
        void apply(inout bit<32> state, out bit<32> word) {
            word = max(state, waited);
            state = 0;
        }
    };
    action set_l_delay() { l_delay_set.execute(port); }
    action take_l_delay() { waited = l_delay_take.execute(port); }

    action compute_above() { ramp = waited |-| DUALPI2_MIN_TH; }
    action compute_ramp() { ramp = ramp |-| ramp_dice; }
    action limit_delay() { waited = min(waited, DUALPI2_LONGEST); }

    action cut_numbers() {
        ramp_dice = one >> 13;
        first = (int<32>)(one >> 1);
        second = (int<32>)max(one, other);
    }
    action choose_l4s() {
        first = first | DUALPI2_ZERO;
        second = second ^ DUALPI2_ZERO;
    }
    action limit_second() { second = max(second, DUALPI2_OVERLOAD); }
    action choose_classic() {
        first = second ^ DUALPI2_ZERO;
        second = DUALPI2_OVERLOAD;
    }

    // ---- Stages 3 to 7: alpha (delay - TARGET) + beta (delay - previous) ----------------------
    // beta is 16 - 2 - 1/4, alpha 1/2 + 1/8 + 1/16.

    action shift_delay() {
        beta = waited << 4;
        twice = waited << 1;
        alpha = waited >> 1;
        quarter = waited >> 2;
        eighth = waited >> 3;
        waited = waited >> 4;
    }
    action add_first() {
        beta = beta - twice;
        alpha = alpha + eighth;
        waited = waited - DUALPI2_REFERENCE;
    }
    action add_second() {
        beta = beta - quarter;
        alpha = alpha + waited;
    }
    action add_both() { alpha = alpha + beta; }
    action compute_change() { first = (int<32>)(alpha - beta); }

    Register<bit<32>, bit<16>>(512) previous;
    RegisterAction<bit<32>, bit<16>, bit<32>>(previous) previous_swap = {
        void apply(inout bit<32> state, out bit<32> word) {
            word = state;
            state = beta;
        }
    };
    action swap_previous() { beta = previous_swap.execute(port); }

    // ---- Stage 8: p' -------------------------------------------------------------------------

    Register<int<32>, bit<16>>(512, -2147483648) base;
    RegisterAction<int<32>, bit<16>, bit<8>>(base) base_change = {
        void apply(inout int<32> state) {
            state = state |+| first;
        }
    };
    RegisterAction<int<32>, bit<16>, bit<8>>(base) base_compare = {
        void apply(inout int<32> state, out bit<8> word) {
            word = this.predicate(state > first, state > second);
        }
    };
    action change_base() { base_change.execute(port); }
    action compare_base() { verdict = base_compare.execute(port); }

    // ---- Stage 9 -----------------------------------------------------------------------------

    action pass() { signal = DUALPI2_NONE; }
    action mark() { signal = DUALPI2_MARK; }
    action drop_packet() { eg_dprsr_md.drop_ctl = 1; }

    table decide {
        key = {
            ecn     : ternary;
            verdict : ternary;
            ramp    : ternary;
        }
        actions = { pass; mark; drop_packet; }
        const default_action = pass();
        const entries = {
            // L4S: ECT(1), CE
            (1 &&& 1, 4, _) : drop_packet();
            (1 &&& 1, 8, _) : drop_packet();
            (1 &&& 1, 1, 0) : pass();
            (1 &&& 1, _, _) : mark();
            // Classic: ECT(0) is marked unless in overload
            (2, 2, _)       : mark();
            (_, 2, _)       : drop_packet();
            (_, 8, _)       : drop_packet();
        }
        size = 8;
    }

    apply {
        port = (bit<16>)eg_intr_md.egress_port;
        depth.apply();
        compute_waited();
        cut_numbers();
        if (kind == KIND_UPDATE) {
            take_l_delay();
            limit_delay();
            shift_delay();
            add_first();
            add_second();
            add_both();
            swap_previous();
            compute_change();
            change_base();
            drop_packet();
        } else {
            if (ecn[0:0] == 1) {
                set_l_delay();
                choose_l4s();
                limit_second();
                if (queued == 1) {
                    compute_above();
                    compute_ramp();
                }
            } else {
                choose_classic();
            }
            compare_base();
            decide.apply();
        }
    }
}

#endif
