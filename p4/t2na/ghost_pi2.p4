// A router with PI2 before the queue, for Tofino 2: the ghost thread knows the depths.
//
// K. De Schepper, O. Bondarenko, I. Tsang, B. Briscoe: "PI2: A Linearized AQM for both Classic and
// Scalable TCP", CoNEXT 2016. Packets are dropped, not marked, so all senders are Classic.
//
//   traffic manager -> Ghost -> [queue_depth]
//                                    |
//   common/ghost_depth.p4 -> level -> p' -> dice -> queue -> port
//
//   stage  does                     for the next      with, from the stages before
//    0-3   ghost_depth.p4           level, depth
//     3   [last_update]             due               time
//     4    at most LONGEST          level
//     5   [level_old]               old               level, due
//     6    level - reference        d_ref, d_old      level, old
//    7-9   d_ref + 10 d_old         rise              d_ref, d_old
//    10    0 - rise                 fall              rise
//    11   [p]                       p                 rise, fall, due
//    12    at most 1/2              p
//    13    p - thrown, twice        excess            p, dice: dropped if both are left
//
// PI2 has no auto-tuning, so an update depends on delays alone and takes one pass: no copy.
//
// `level` is alpha times the delay as a probability of 32 bits, so the update needs no product:
// queue_delay is computed with a rate that makes 1 s equal alpha, 5/16 of 2^32. beta is ten times alpha.
//
// Where it leaves the paper
//  * The delay is the one that the arriving packet is going to have, not that of the one at the head.
//  * The first packet T_UPDATE after the last update makes the next one.
//  * Levels above 141 ms count as that.
//
// Control plane: ghost_pi2.toml. Stages: 15 of ingress, none of egress.
#include <core.p4>

#ifndef TARGET
#define TARGET      20000000            // ns: queueing delay to settle at
#endif
#ifndef T_UPDATE
#define T_UPDATE    32000000            // ns: time between two updates
#endif

#define PI2_T_UPDATE   ((T_UPDATE + 32768) / 65536)     // 65.536 us
#define PI2_REFERENCE  (TARGET * 134217728 / 100000000) // alpha * TARGET * 2^32
#define PI2_LONGEST    190000000                        // the same of 141 ms
#define PI2_HALF       32w0x80000000                    // p' whose square is 25 %
#define PI2_TWO_FRAMES (18 / GHOST_CELLS)               // units of qlength

// The rate with which queue_delay gives alpha * delay * 2^32: 1 ns is 1.342.
#define GHOST_RATE     (LINK_RATE * 745058060 / 1000000000)

struct ingress_metadata_t { }

#include "common/ghost_depth.p4"

control Ingress(GHOST_INGRESS_PARAMETERS) {

    RouteAndDelay() route;

    bit<16> queue;
    bit<32> depth;
    bit<32> delay;
    bit<32> epoch;                      // now in units of 65.536 us
    bit<8>  due = 0;                    // this packet updates
    bit<32> level;
    bit<32> old = 0;
    bit<32> d_ref;
    bit<32> d_old;
    bit<32> twice;
    bit<32> eightfold;
    bit<32> tenfold;
    bit<32> rise = 0;
    bit<32> fall = 0;
    bit<32> p = 0;                      // p', 2^-32
    bit<32> above;                      // depth beyond two full frames
    bit<32> first;
    bit<32> second;
    bit<32> excess_first = 0;
    bit<32> excess_second = 0;

    Random<bit<32>>() random_first;
    Random<bit<32>>() random_second;
    action throw_first() { first = random_first.get(); }
    action throw_second() { second = random_second.get(); }

    Register<int<32>, bit<16>>(QUEUE_STATES) last_update;
    RegisterAction<int<32>, bit<16>, bit<8>>(last_update) last_update_test = {
        void apply(inout int<32> state, out bit<8> is_due) {
            is_due = 0;
            if ((int<32>)epoch - state >= PI2_T_UPDATE) {
                is_due = 1;
                state = (int<32>)epoch;
            }
        }
    };
    action test_last_update() { due = last_update_test.execute(queue); }

    action limit_level() { level = min(delay, PI2_LONGEST); }
    action compute_above() { above = depth |-| PI2_TWO_FRAMES; }

    Register<bit<32>, bit<16>>(QUEUE_STATES) level_old;
    RegisterAction<bit<32>, bit<16>, bit<32>>(level_old) level_old_update = {
        void apply(inout bit<32> state, out bit<32> before) {
            before = state;
            state = level;
        }
    };
    action update_level_old() { old = level_old_update.execute(queue); }

    action compute_d_ref() { d_ref = level - PI2_REFERENCE; }
    action compute_d_old() { d_old = level - old; }
    action compute_multiples() {
        twice = d_old << 1;
        eightfold = d_old << 3;
    }
    action compute_tenfold() { tenfold = eightfold + twice; }
    action compute_rise() { rise = d_ref + tenfold; }
    action compute_fall() { fall = 0 - rise; }

    Register<bit<32>, bit<16>>(QUEUE_STATES) base_probability;
    RegisterAction<bit<32>, bit<16>, bit<32>>(base_probability) probability_read = {
        void apply(inout bit<32> state, out bit<32> word) { word = state; }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(base_probability) probability_raise = {
        void apply(inout bit<32> state, out bit<32> word) {
            state = state |+| rise;
            word = state;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(base_probability) probability_lower = {
        void apply(inout bit<32> state, out bit<32> word) {
            state = state |-| fall;
            word = state;
        }
    };
    action read_probability() { p = probability_read.execute(queue); }
    action raise_probability() { p = probability_raise.execute(queue); }
    action lower_probability() { p = probability_lower.execute(queue); }

    // By the sign of the change; without an update it is 0.
    table change_probability {
        key = {
            due  : exact;
            rise : ternary;
        }
        actions = {
            read_probability; raise_probability; lower_probability; @defaultonly NoAction;
        }
        const default_action = NoAction();  // one that needs the hash unit cannot be the default
        const entries = {
            (0, _)                         : read_probability();
            (1, 0x00000000 &&& 0x80000000) : raise_probability();
            (1, _)                         : lower_probability();
        }
        size = 3;
    }

    action drop_packet() { ig_dprsr_md.drop_ctl = 1; }
    action limit_probability() { p = min(p, PI2_HALF); }
    action compute_excess() {
        excess_first = p |-| first;
        excess_second = p |-| second;
    }

    apply {
        route.apply(hdr, ig_dprsr_md, ig_tm_md, queue, depth, delay);
        epoch = ig_prsr_md.global_tstamp[47:16];
        throw_first();
        throw_second();
        test_last_update();
        limit_level();
        compute_above();
        if (due == 1) {
            update_level_old();
            compute_d_ref();
            compute_d_old();
            compute_multiples();
            compute_tenfold();
            compute_rise();
            compute_fall();
        }
        change_probability.apply();
        limit_probability();
        compute_excess();
        if (above != 0 && excess_first != 0 && excess_second != 0) {
            drop_packet();
        }
    }
}

control IngressDeparser(
        packet_out packet,
        inout ghost_headers_t hdr,
        in ingress_metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.header_checksum = ipv4_checksum.update(IPV4_CHECKSUM_FIELDS(hdr.ipv4));
        }
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser(), Ghost()) pipe;

Switch(pipe) main;
