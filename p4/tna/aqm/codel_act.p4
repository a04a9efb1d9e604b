// CoDel-ACT: CoDel with memory of the last congestion cycle, its state kept in two sets of
// registers that mirrored packets bring into line.
//
// V. Bothra, A. Peer, V. K. Singh, M. Maity, R. Shah: "CoDel-ACT: Realizing CoDel AQM for
// Programmable Switch ASIC", IFIP Networking 2024, section V and Figure 8. `codel_init` and
// `codel_update` are its Listings 1 and 2, `chk_first_violation` is its section V-A.
//
// Two readings. The paper's Listing 2 and the authors' slides of 4 June 2024 contradict each other:
//
//                     Listing 2, the default         the slides, -D CODEL_ACT_SLIDES
//   first violation   no drop                        "DROP the first packet"
//   until dropNext    count does not change          "Increment count for subsequent packets"
//   count             + 2 with each drop             + 2 with each packet in the dropping state
//
// The slides print Listing 2 as well, and these bullets next to it. The bullets may abbreviate the
// listing, or they may describe the program. No public code settles it. CODEL_ACT_SLIDES defines
// CODEL_ACT_DROP_FIRST and CODEL_ACT_COUNT_PACKETS; each can be defined alone.
//
//   stage 0    1               2               3            4          5               6
//   delay  ->  chk_first_  ->  codel_init:
//              violation       countI      ->  delta    ->  countI' -> dropNextI'  ->  dropNext
//              dropping        lastCount       (lastCount)  choose     interval by     now + interval,
//              prevDropping    dropNextI                    count      square root     mirror "init",
//                                                                                      slides: drop
//                              codel_update:
//                              dropNextU,      drop,
//                              countU          copyU + 2 (slides: whether it drops or not)
//                              end of cycle:
//                              dropNextU       copyU, mirror "end"
//
//   A synchronisation packet passes the same stages: "init" writes lastCount, dropNextU, countU and
//   copyU, "end" writes countI and dropNextI; then it is dropped.
//
//   state         read by                           written by
//   dropping      (control plane only)              every data packet: is it above TARGET?
//   prevDropping  every data packet                 every data packet: the same, for the next one
//   countI        codel_init                        "end": count of the cycle that ended (i - 1)
//   lastCount     codel_init                        "init": countI as that codel_init found it (i - 2)
//   dropNextI     codel_init                        "end": dropNext of the cycle that ended
//   countI'       codel_init, in the same access    codel_init: count to start the cycle with
//   dropNextI'    codel_init, in the same access    codel_init: INTERVAL / sqrt(countI')
//   dropNextU     codel_update, end of cycle        "init"; codel_update: + INTERVAL / sqrt(countU)
//   countU        codel_update (math unit)          "init"; codel_update: + 2 (slides: each packet)
//   copyU         end of cycle                      "init"; codel_update: + 2 (slides: each packet)
//
// Why so many. A register lives in one stage and a packet may use it once. codel_init reads count
// before dropNext and writes it after a decision that takes two more stages; codel_update asks
// dropNext first and changes count in the same breath. One count and one dropNext cannot serve
// both (section IV-A). So init and update have their own (I and U), a packet that cannot go back
// has a shadow to write (I'), and what one of them learns reaches the other in a mirrored packet: at
// the start of a cycle from init to update, at its end from update to init.
//
// Why copyU, which the paper does not name: dropNextU and countU share a register, because each
// decides over the other in one step, and one access gives one word to the packet. At the end
// of a cycle both are wanted.
//
// How we read the paper where it leaves room
//  * dropping and prevDropping say of this packet and the one before whether they were above
//    TARGET: (1, 0) is the first violation, (1, 1) the dropping state, (0, 1) the end of a cycle.
//  * "above" is delay >= TARGET, as in RFC 8289.
//  * count grows by two a drop, so that the math unit sees twice the number of drops (section
//    V-A, challenge 3). Listing 1 is taken by the letter on this scale: delta > 1, and a fresh
//    cycle starts with 1. A delta of one drop, 2 here, therefore already counts as a memory.
//  * The math unit works beside the adders and reads count as it was before "+ 2", whatever the
//    order of the source lines. So the first drop of a cycle plans the second after
//    INTERVAL / sqrt(count at the start), which is RFC 8289's spacing.
//  * dropNextI' cannot hold the sum now + INTERVAL / sqrt(count): an ALU adds the math unit's
//    result to its memory or to a constant, not to a field of the packet. It holds the interval, and
//    the next stage adds.
//  * State is kept for each queue of each port; the paper has one queue.
//
// Where it leaves RFC 8289
//  * The dropping state starts with the first packet above TARGET. By Listing 2 that packet is sent
//    and the first drop comes after INTERVAL / sqrt(count); by the slides that packet is dropped. The
//    RFC waits an INTERVAL first, drops, and only then starts from the remembered count.
//  * By the slides count is the number of packets above TARGET and not of drops: INTERVAL / sqrt(count)
//    falls within one INTERVAL to the time of a few packets.
//  * lastCount is the count of the cycle before the last one, not the count at its start (Listing 1,
//    line 8 stands before line 10). RFC 8289 stores the newly chosen count, so that delta there is
//    the number of drops in the last cycle.
//  * No test for a queue of less than one packet.
//  * Doubling the count. If the chip computes what the vendor's model computes, it makes intervals
//    about 27 % shorter than INTERVAL / sqrt(drops); if it computes what the authors measured, it
//    puts them right (../../README.md).
//  * A synchronisation packet takes about a microsecond. Until "init" arrives, codel_update
//    works with the last cycle's dropNextU and may drop a packet on it; until "end" arrives,
//    codel_init works with the counts of the cycle before.
//
// Time. The paper does not say how its times are compared. Here they are 32-bit nanoseconds, and
// their differences are compared as signed numbers, which the stateful ALU does modulo 2^32: right
// for any two instants less than 2.1 s apart, before and after the clock starts again from 0 every
// 4.295 s. The one question about a longer time, "less than 16 intervals ago?", is answered right
// up to 3.7 s; an end of cycle 3.7 to 5.9 s ago passes for a recent one. Nothing bounds how far
// dropNextU falls behind: under a flood that does not react it is more than 2.1 s after a while, and
// then nothing is dropped for 2.1 s, and so on by turns (docs/equivalence.md).
#ifndef AQM_CODEL_ACT_P4
#define AQM_CODEL_ACT_P4

#include "../common/control_law.p4"

#ifdef CODEL_ACT_SLIDES
#define CODEL_ACT_DROP_FIRST            // the first packet above TARGET is dropped
#define CODEL_ACT_COUNT_PACKETS         // each packet of the dropping state adds to count
#endif

#include "../common/chip.p4"
#define SIXTEEN_INTERVALS_NS   (16 * INTERVAL)

// Which synchronisation a mirrored packet brings; the first byte of its header. KIND_DATA is 0.
const bit<8> KIND_INIT = 1;             // from codel_init to codel_update
const bit<8> KIND_END  = 2;             // from codel_update to codel_init

const MirrorType_t CODEL_ACT_MIRROR  = 1;
const MirrorId_t   CODEL_ACT_SESSION = 100;

// In front of a synchronisation packet.
header codel_act_h {
    bit<8>  kind;                       // KIND_INIT or KIND_END
    bit<16> queue;                      // index of the state
    bit<32> count;                      // init: for countU; end: for countI
    bit<32> drop_next;                  // ns; init: for dropNextU; end: for dropNextI
    bit<32> last_count;                 // init: for lastCount; end: unused
}

// What the egress deparser needs to write that header.
struct codel_act_t {
    MirrorId_t session;
    bit<8>  kind;
    bit<16> queue;
    bit<32> count;
    bit<32> drop_next;
    bit<32> last_count;
}

// The two words of codel_update. Signed, because only signed differences are compared modulo 2^32.
struct codel_act_update_t {
    int<32> drop_next;                  // dropNextU, ns
    int<32> count;                      // countU
}

control CodelAct(
        in codel_act_h sync,            // valid: a synchronisation packet
        inout codel_act_t md,
        in bit<48> arrival,             // ns, global_tstamp of ingress; data packets only
        in bit<48> departure,           // ns, global_tstamp of egress
        in egress_intrinsic_metadata_t eg_intr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {

    bit<32> time;                       // data: now; synchronisation: the dropNext it brings
    bit<32> delay;                      // ns, sojourn time
    bit<8>  is_dropping;                // this packet is above TARGET
    bit<8>  was_dropping;               // the packet before was
    bit<8>  recent;                     // the last cycle ended less than 16 intervals ago
    bit<32> delta;                      // Listing 1, line 7
    bit<32> interval;                   // ns, INTERVAL / sqrt(count)
    bit<8>  due;                        // codel_update wants this packet dropped

    // Port and queue in one number. An action could not put it together, because a container takes
    // two sources; the hash unit can.
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) queue_number;

    // ---- Stage 1: chk_first_violation ------------------------------------------------------
    // Needs the delay. A comparison with a 32-bit number is possible in a stateful ALU only; a
    // gateway compares 12 bits.

    Register<bit<32>, bit<16>>(QUEUE_STATES) dropping;
    RegisterAction<bit<32>, bit<16>, bit<8>>(dropping) update_dropping = {
        void apply(inout bit<32> state, out bit<8> above) {
            above = 0;
            if (delay >= TARGET) {
                state = 1;
                above = 1;
            } else {
                state = 0;
            }
        }
    };

    Register<bit<32>, bit<16>>(QUEUE_STATES) prev_dropping;
    RegisterAction<bit<32>, bit<16>, bit<8>>(prev_dropping) update_prev_dropping = {
        void apply(inout bit<32> state, out bit<8> above) {
            above = 0;
            if (state == 1) {
                above = 1;
            }
            if (delay >= TARGET) {
                state = 1;
            } else {
                state = 0;
            }
        }
    };

    action check_dropping() {
        is_dropping = update_dropping.execute(md.queue);
    }
    action check_prev_dropping() {
        was_dropping = update_prev_dropping.execute(md.queue);
    }

    // ---- Stage 2: what codel_init remembers ------------------------------------------------
    // Needs to know that this is the first violation. The three registers do not need each other.

    Register<bit<32>, bit<16>>(QUEUE_STATES) count_i;
    RegisterAction<bit<32>, bit<16>, bit<32>>(count_i) count_i_read = {
        void apply(inout bit<32> state, out bit<32> word) { word = state; }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(count_i) count_i_write = {
        void apply(inout bit<32> state) { state = sync.count; }
    };
    action read_count_i() { md.count = count_i_read.execute(md.queue); }
    action write_count_i() { count_i_write.execute(md.queue); }

    Register<bit<32>, bit<16>>(QUEUE_STATES) last_count;
    RegisterAction<bit<32>, bit<16>, bit<32>>(last_count) last_count_read = {
        void apply(inout bit<32> state, out bit<32> word) { word = state; }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(last_count) last_count_write = {
        void apply(inout bit<32> state) { state = sync.last_count; }
    };
    action read_last_count() { md.last_count = last_count_read.execute(md.queue); }
    action write_last_count() { last_count_write.execute(md.queue); }

    Register<int<32>, bit<16>>(QUEUE_STATES) drop_next_i;
    RegisterAction<int<32>, bit<16>, bit<8>>(drop_next_i) drop_next_i_compare = {
        void apply(inout int<32> state, out bit<8> is_recent) {
            // Compared modulo 2^32: true from 0.55 s before to 1.6 s after the instant in the register.
            is_recent = 0;
            if ((int<32>)time - state < SIXTEEN_INTERVALS_NS) {
                is_recent = 1;
            }
        }
    };
    RegisterAction<int<32>, bit<16>, bit<8>>(drop_next_i) drop_next_i_write = {
        void apply(inout int<32> state) { state = (int<32>)time; }
    };
    action compare_drop_next_i() { recent = drop_next_i_compare.execute(md.queue); }
    action write_drop_next_i() { drop_next_i_write.execute(md.queue); }

    // ---- Stage 3: line 7 and 8 of Listing 1 ------------------------------------------------
    // Both assignments read the fields as they were before this stage.

    action compute_delta() {
        delta = md.count - md.last_count;
        md.last_count = md.count;
    }

    // ---- Stage 4: line 9 to 12, the new count ----------------------------------------------
    // Needs delta. countI' is where the ALU that decides leaves its decision.

    Register<int<32>, bit<16>>(QUEUE_STATES) count_i_shadow;
    RegisterAction<int<32>, bit<16>, int<32>>(count_i_shadow) count_i_choose = {
        void apply(inout int<32> state, out int<32> count) {
            if ((int<32>)delta > 1 && recent == 1) {
                state = (int<32>)delta;
            } else {
                state = 1;
            }
            count = state;
        }
    };
    action choose_count() { md.count = (bit<32>)count_i_choose.execute(md.queue); }

    // ---- Stage 5 and 6: line 13 ------------------------------------------------------------
    // Needs the count. The sum needs the interval in the packet, hence one more stage.

    MathUnit<bit<32>>(CONTROL_LAW_UNIT) interval_by_sqrt_i;
    Register<bit<32>, bit<16>>(QUEUE_STATES) drop_next_i_shadow;
    RegisterAction<bit<32>, bit<16>, bit<32>>(drop_next_i_shadow) control_law = {
        void apply(inout bit<32> state, out bit<32> word) {
            state = interval_by_sqrt_i.execute(md.count);
            word = state;
        }
    };
    action compute_interval() { interval = control_law.execute(md.queue); }
    action compute_drop_next() { md.drop_next = time + interval; }

    // ---- Stage 2: codel_update, Listing 2 --------------------------------------------------
    // Needs to know that the dropping state goes on. A register's ALU has two inputs from the packet,
    // for all its actions together: `time`, which is why a synchronisation packet's dropNext comes
    // in that field, and its count.

    MathUnit<int<32>>(CONTROL_LAW_UNIT) interval_by_sqrt_u;
    Register<codel_act_update_t, bit<16>>(QUEUE_STATES) update_u;
    RegisterAction<codel_act_update_t, bit<16>, bit<8>>(update_u) update_u_step = {
        void apply(inout codel_act_update_t state, out bit<8> drop) {
            drop = 0;
            if ((int<32>)time - state.drop_next >= 0) {
                state.drop_next = state.drop_next + interval_by_sqrt_u.execute(state.count);
#ifndef CODEL_ACT_COUNT_PACKETS
                state.count = state.count + 2;
#endif
                drop = 1;
            }
#ifdef CODEL_ACT_COUNT_PACKETS
            state.count = state.count + 2;
#endif
        }
    };
    RegisterAction<codel_act_update_t, bit<16>, int<32>>(update_u) update_u_read = {
        void apply(inout codel_act_update_t state, out int<32> word) { word = state.drop_next; }
    };
    RegisterAction<codel_act_update_t, bit<16>, bit<8>>(update_u) update_u_write = {
        void apply(inout codel_act_update_t state) {
            state.drop_next = (int<32>)time;
            state.count = (int<32>)sync.count;
        }
    };
    action step_update_u() { due = update_u_step.execute(md.queue); }
    action read_drop_next_u() { md.drop_next = (bit<32>)update_u_read.execute(md.queue); }
    action write_update_u() { update_u_write.execute(md.queue); }

    // ---- Stage 3: countU for the end of the cycle ------------------------------------------
    // Needs to know whether codel_update dropped. It follows countU, so the slides' reading adds here
    // for each packet, too.

    Register<bit<32>, bit<16>>(QUEUE_STATES) copy_u;
    RegisterAction<bit<32>, bit<16>, bit<32>>(copy_u) copy_u_step = {
        void apply(inout bit<32> state) { state = state + 2; }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(copy_u) copy_u_read = {
        void apply(inout bit<32> state, out bit<32> word) { word = state; }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(copy_u) copy_u_write = {
        void apply(inout bit<32> state) { state = sync.count; }
    };
    action step_copy_u() { copy_u_step.execute(md.queue); }
    action read_copy_u() { md.count = copy_u_read.execute(md.queue); }
    action write_copy_u() { copy_u_write.execute(md.queue); }

    // ---- What becomes of the packet --------------------------------------------------------

    action drop_packet() {
        eg_dprsr_md.drop_ctl = 1;
    }

    // A field, even for a constant: a mirror header is made of fields.
    action mirror(bit<8> kind) {
        eg_dprsr_md.mirror_type = CODEL_ACT_MIRROR;
        md.session = CODEL_ACT_SESSION;
        md.kind = kind;
    }

    apply {
        if (sync.isValid()) {
            // Figure 8, dashed: the CoDel-ACT packet
            time = sync.drop_next;
            md.queue = sync.queue;
            if (sync.kind == KIND_INIT) {
                write_last_count();
                write_update_u();
                write_copy_u();
            } else {
                write_count_i();
                write_drop_next_i();
            }
            drop_packet();
        } else {
            // Stage 0
            time = departure[31:0];
            delay = departure[31:0] - arrival[31:0];
            md.queue = queue_number.get(QUEUE_NUMBER_FIELDS(eg_intr_md));
            // chk_first_violation
            check_dropping();
            check_prev_dropping();
            if (is_dropping == 1 && was_dropping == 0) {
                // codel_init
                read_count_i();
                read_last_count();
                compare_drop_next_i();
                compute_delta();
                choose_count();
                compute_interval();
                compute_drop_next();
                mirror(KIND_INIT);
#ifdef CODEL_ACT_DROP_FIRST
                drop_packet();
#endif
            } else if (is_dropping == 1) {
                // codel_update
                step_update_u();
#ifdef CODEL_ACT_COUNT_PACKETS
                step_copy_u();
#endif
                if (due == 1) {
#ifndef CODEL_ACT_COUNT_PACKETS
                    step_copy_u();
#endif
                    drop_packet();
                }
            } else if (was_dropping == 1) {
                // the cycle has ended
                read_drop_next_u();
                read_copy_u();
                mirror(KIND_END);
            }
        }
    }
}

#endif
