// CoDel with RFC 8289's decisions on Tofino 1: approximate at once, correct by a mirrored copy.
//
// K. Nichols, V. Jacobson, A. McGregor, J. Iyengar: RFC 8289, "Controlled Delay Active Queue
// Management", section 5. Names in comments are those of its listings.
//
//   stage  does                 for the next       with, from the stages before
//     0    delay                delay              depth and times of the queue
//     1   [above]               phase              delay
//     2   [first_above]         ok_to_drop         phase
//     3   [dropping]            was_dropping       ok_to_drop
//     4   [schedule]            count              was_dropping
//     5   [last_count]          last_number        count: here a packet is dropped or marked
//         [drop_epoch]          recent             epoch
//         [step_taken]          taken              count
//     6    compute_delta        delta              count, last_number
//     7    choose_count         count              delta, recent
//     8    control_law          spacing            count
//     9    spacing - taken      correction         -> mirrored copy -> port 68 -> egress again
//
//   The copy, a synchronisation packet, passes the same stages: it corrects drop_next, at the start
//   of a cycle with a remembered count also number and last_count, and ends.
//
//   state        read by                  written by
//   above        every data packet        every data packet: is it above TARGET?
//   first_above  packets above TARGET     the first one: now + INTERVAL; each one for which that
//                                         time has come: now
//   dropping     every data packet        every data packet: ok_to_drop
//   schedule:    packets with ok_to_drop
//    drop_next                            entering: now + INTERVAL; a later drop: + about
//                                         INTERVAL / sqrt(count), or now - 2 s + INTERVAL if it is
//                                         2 s behind; the copy: + what that is wrong by
//    number                               count + 1. Entering: 2; a later drop: + 1; the copy of a
//                                         cycle with memory: + what it started with too low
//   last_count   entering                 lastcount + 1, as number
//   drop_epoch   entering                 at a drop: when it was, in units of 65.5 us
//   step_taken   (at once)                what drop_next was moved on by
//
// Why a copy. A register lives in one stage and a packet may use it once. drop_next is asked in
// stage 4, and INTERVAL / sqrt(count) is known in stage 8, because it takes count, which takes the
// answer of drop_next (the circle of Figure 2 of the 2021 paper, aqm/p4_codel.p4). The stateful ALU
// breaks the circle with its math unit, up to 12 % too long. But the schedule changes only when a
// packet is dropped, and a packet that is dropped can be mirrored. So the dropping pass moves
// drop_next on by what the math unit says, and the copy, which comes back through the recirculation
// port about a microsecond later, takes away what that was too much.
//
// The copy brings a difference, no instant: several copies under way do not disturb each other, and
// drops that are due together are made by packets in a row. How wrong the math unit was is asked of
// a second one, behind a register of its own (step_taken), and not of a table: whatever the chip's
// unit computes (common/control_law.p4), the sum is exact.
//
// A cycle without memory starts with count 1 and drop_next = now + INTERVAL, which is exact at
// once. It needs no copy. One with memory starts so, too, and is put right by its first copy.
//
// If a copy is lost, the following drops are late by the math unit's error, at most 12 % of one
// spacing, and a cycle that should have started from a remembered count starts from 1.
// copies_sent - copies_used is the number of copies lost.
//
// Where it leaves RFC 8289
//  * A packet is dropped behind the scheduler: its turn on the wire is spent. (So with every AQM in
//    Tofino's egress.) The RFC's inner loop, several drops at one instant, is a drop a packet here.
//  * A drop that becomes due within the microsecond until a copy is back is late by up to that.
//  * drop_next is never more than 2 s behind the clock (LONGEST_LAG_NS). The RFC has no such bound:
//    under a flood that does not react, drops fall due faster than packets leave, each packet is
//    dropped, and drop_next falls behind for as long as that lasts. So it does here, but what is
//    due for longer than 2 s is forgotten. While the flood lasts all packets are dropped either
//    way. When packets leave faster than drops fall due again (the line's rate has risen), the RFC
//    goes on dropping every one until all it owes is made up for; here that is 1.9 to 2 s of it.
//  * "No more than one packet in the queue" is 1,514 bytes in the RFC. The chip tells the cells of 80
//    bytes that a queue holds, and neither bytes nor packets. The packets behind are taken to be as
//    long as the one that leaves: the queue is spared while it has no more cells than as many
//    packets of that length take as one full frame has room for, and never less than 20, those of
//    one full frame. In a queue of full frames that is exact. Of short packets it errs by one
//    here and there; it matters only where one full frame takes longer than TARGET, below 2.4 Mbit/s
//    for 5 ms. docs/equivalence.md has figures, and why nothing in egress can know better.
//  * INTERVAL / sqrt(count) is rounded to 1 ns for counts up to 16,383, and right to 0.1 % above.
//  * When the sojourn time falls below TARGET right behind a dropped packet, the RFC's loop leaves
//    drop_next where it was; here it moves on. That shifts the limit of 16 intervals by a spacing.
//
// Before the queue. With CODEL_EXACT_BEFORE_QUEUE defined, the control stands in ingress of Tofino 2.
// The sojourn time is the one that the packet is going to have, and the clock is that of its departure.
// What has to be put right comes with the dropped packet itself, which is resubmitted.
//
// Time. 32 bits of nanoseconds, which start again from 0 every 4.295 s; the stateful ALU compares
// differences of signed words modulo 2^32, right for instants less than 2.1 s apart. first_above
// would be older than that in a queue that stays above TARGET, so it moves along with the packets
// once its time has come; drop_next would under a flood, hence LONGEST_LAG_NS. Neither can lie further
// ahead than an INTERVAL, so what seems to is long past: that reaches to 4.1 s. Only "less than 16
// INTERVALs ago?" can be about a longer time: the answer in nanoseconds counts if by drop_epoch the
// last drop was less than 17 INTERVALs ago (drop_next is an INTERVAL after it at most), and epochs
// wrap after 78 h. If no packet leaves a queue for longer than 4.1 s, although some wait (a port
// that is paused, a queue that others starve), sojourn times are misread, and the first drop can be
// late by up to one and a half INTERVALs.
#ifndef AQM_CODEL_EXACT_P4
#define AQM_CODEL_EXACT_P4

#include "../common/control_law.p4"

#if INTERVAL > 110000000
#error "codel_exact tells times up to 2 s apart; 18 * INTERVAL is near: use at most 110000000"
#endif

#define LONGEST_LAG_NS             2000000000                   // ns: now - drop_next at most
#define SHORTENED_LAG_NS           (LONGEST_LAG_NS - INTERVAL)  // ns: what a longer one is made

// A clock of departures to come can step back, by as much as depths are late and rounded.
#ifdef CODEL_EXACT_BEFORE_QUEUE
#define FARTHEST_AHEAD_NS          (2 * INTERVAL)               // ns: beyond it an instant is past
#define EPOCHS_BACK                16                           // 65.536 us
#define FIRST_ABOVE_MOVED          ((int<32>)time - INTERVAL)
#else
#define FARTHEST_AHEAD_NS          INTERVAL
#define EPOCHS_BACK                0
#define FIRST_ABOVE_MOVED          (int<32>)time
#endif
#define SEVENTEEN_INTERVALS_EPOCHS (17 * INTERVAL / 65536 + 2)  // 65.536 us, rounded up

#include "../common/chip.p4"

// The control plane reads it: from it the entries of the control law are computed.
const bit<32> CODEL_EXACT_INTERVAL_NS = INTERVAL;

// 1514 bytes, 4 of the check sequence, 9 of the bridge header.
const bit<19> CODEL_EXACT_ONE_PACKET_CELLS = FULL_FRAME_CELLS;

// What a synchronisation packet brings; the first byte of its header. KIND_DATA is 0.
const bit<8> KIND_NEXT   = 1;           // for drop_next, after a drop in the dropping state
const bit<8> KIND_RESUME = 2;           // for all, in a cycle that remembers the last

const ResubmitType_t CODEL_EXACT_RESUBMIT = 1;
const MirrorType_t CODEL_EXACT_MIRROR  = 1;
const MirrorId_t   CODEL_EXACT_SESSION = 100;

// In front of a synchronisation packet.
header codel_exact_h {
    bit<8>  kind;                       // KIND_NEXT or KIND_RESUME
    bit<16> queue;                      // index of the state
    bit<32> correction;                 // ns, for drop_next
    bit<32> added;                      // resume: for number and last_count
}

// What the egress deparser needs to write that header.
struct codel_exact_t {
    MirrorId_t session;
    bit<8>  kind;
    bit<16> queue;
    bit<32> correction;
    bit<32> added;
    bit<32> count;                      // not for the header: a drop's number; 0: none is due
    bit<1>  mark;                       // not for the header: set Congestion Experienced
}

// The two words that decide over each other. Signed, because only signed differences are compared
// modulo 2^32.
struct codel_exact_schedule_t {
    int<32> drop_next;                  // ns
    int<32> number;                     // count + 1: what the next drop makes of count
}

control CodelExact(
        in codel_exact_h sync,          // valid: a synchronisation packet
        inout codel_exact_t md,
        in bit<32> arrival,             // ns, global_tstamp[31:0] of ingress; data packets only
        in bit<32> arrival_epoch,       // 65.536 us, global_tstamp[47:16] of ingress
#ifdef CODEL_EXACT_BEFORE_QUEUE
        in bit<32> delay,               // ns, the sojourn time to come
        inout ingress_intrinsic_metadata_for_deparser_t dprsr_md) {
#else
        in bit<48> departure,           // ns, global_tstamp of egress
        in bit<2> ecn,                  // ECN field; 0: packets are dropped, else md.mark is set
        in egress_intrinsic_metadata_t eg_intr_md,
        inout egress_intrinsic_metadata_for_deparser_t dprsr_md) {
#endif

    bit<32> time;                       // ns; data: now; synchronisation: the correction
#ifndef CODEL_EXACT_BEFORE_QUEUE
    bit<32> delay;                      // ns, sojourn time; 0: next to nothing behind this packet
#endif
    bit<32> delay_epochs;               // the same in units of 65.536 us
    bit<32> epoch;                      // now in units of 65.536 us
    bit<8>  phase;                      // one of PHASE_*
    bit<8>  ok_to_drop;                 // above TARGET for an INTERVAL
    bit<8>  was_dropping;               // the packet before had ok_to_drop
    bit<8>  entering;                   // this packet enters the dropping state
    bit<32> last_number;                // lastcount + 1
    bit<32> delta;                      // count - lastcount
    bit<8>  recent;                     // the last drop was less than 17 INTERVALs ago
    bit<32> spacing;                    // ns, INTERVAL / sqrt(count)
    bit<32> rough_spacing;              // ns, the same to 0.1 %
    bit<32> taken;                      // ns, what drop_next was moved on by

#ifndef CODEL_EXACT_BEFORE_QUEUE
    // Port and queue in one number. An action could not put it together, because a container takes
    // two sources; the hash unit can.
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) queue_number;

    // ---- Stage 0: the sojourn time ---------------------------------------------------------
    // The RFC's second condition, a queue of no more than one packet, takes the delay away: then
    // the packet is below TARGET for all that follow. A gateway orders 12 bits, a range key 20.
    // n frames of b bytes make one full frame, n = 1514 / b, and lie in n * ceil((b + 13) / CELL_BYTES)
    // cells: each line has those of the packet lengths (b + 13) for which that is the same.

    action measure_delay() {
        delay = departure[31:0] - arrival;
    }
    action ignore_delay() {
        delay = 0;
    }
    table sojourn_time {
        key = {
            eg_intr_md.deq_qdepth : range;
            eg_intr_md.pkt_length : range;
        }
        actions = { measure_delay; ignore_delay; }
        const default_action = measure_delay();
        const entries = {
            (0 .. CODEL_EXACT_ONE_PACKET_CELLS, _) : ignore_delay();
#if CELL_BYTES == 80
            (0 .. 32,   0 ..  60) : ignore_delay();
            (0 .. 31,  61 ..  61) : ignore_delay();
            (0 .. 30,  62 ..  63) : ignore_delay();
            (0 .. 29,  64 ..  65) : ignore_delay();
            (0 .. 28,  66 ..  67) : ignore_delay();
            (0 .. 27,  68 ..  69) : ignore_delay();
            (0 .. 26,  70 ..  71) : ignore_delay();
            (0 .. 25,  72 ..  73) : ignore_delay();
            (0 .. 24,  74 ..  76) : ignore_delay();
            (0 .. 23,  77 ..  78) : ignore_delay();
            (0 .. 22,  79 ..  80) : ignore_delay();
            (0 .. 44,  81 ..  81) : ignore_delay();
            (0 .. 42,  82 ..  85) : ignore_delay();
            (0 .. 40,  86 ..  88) : ignore_delay();
            (0 .. 38,  89 ..  92) : ignore_delay();
            (0 .. 36,  93 ..  97) : ignore_delay();
            (0 .. 34,  98 .. 102) : ignore_delay();
            (0 .. 32, 103 .. 107) : ignore_delay();
            (0 .. 30, 108 .. 113) : ignore_delay();
            (0 .. 28, 114 .. 121) : ignore_delay();
            (0 .. 26, 122 .. 129) : ignore_delay();
            (0 .. 24, 130 .. 139) : ignore_delay();
            (0 .. 22, 140 .. 150) : ignore_delay();
            (0 .. 30, 161 .. 164) : ignore_delay();
            (0 .. 27, 165 .. 181) : ignore_delay();
            (0 .. 24, 182 .. 202) : ignore_delay();
            (0 .. 21, 203 .. 229) : ignore_delay();
            (0 .. 24, 241 .. 265) : ignore_delay();
            (0 .. 21, 481 .. 517) : ignore_delay();
        }
        size = 30;
#else
            (0 .. 32,   0 ..  60) : ignore_delay();
            (0 .. 31,  61 ..  61) : ignore_delay();
            (0 .. 30,  62 ..  63) : ignore_delay();
            (0 .. 29,  64 ..  65) : ignore_delay();
            (0 .. 28,  66 ..  67) : ignore_delay();
            (0 .. 27,  68 ..  69) : ignore_delay();
            (0 .. 26,  70 ..  71) : ignore_delay();
            (0 .. 25,  72 ..  73) : ignore_delay();
            (0 .. 24,  74 ..  76) : ignore_delay();
            (0 .. 23,  77 ..  78) : ignore_delay();
            (0 .. 22,  79 ..  81) : ignore_delay();
            (0 .. 21,  82 ..  85) : ignore_delay();
            (0 .. 20,  86 ..  88) : ignore_delay();
            (0 .. 19,  89 ..  92) : ignore_delay();
            (0 .. 18,  93 ..  97) : ignore_delay();
            (0 .. 17,  98 .. 102) : ignore_delay();
            (0 .. 16, 103 .. 107) : ignore_delay();
            (0 .. 15, 108 .. 113) : ignore_delay();
            (0 .. 14, 114 .. 121) : ignore_delay();
            (0 .. 13, 122 .. 129) : ignore_delay();
            (0 .. 12, 130 .. 139) : ignore_delay();
            (0 .. 11, 140 .. 150) : ignore_delay();
            (0 .. 10, 151 .. 164) : ignore_delay();
            (0 .. 18, 177 .. 181) : ignore_delay();
            (0 .. 16, 182 .. 202) : ignore_delay();
            (0 .. 14, 203 .. 229) : ignore_delay();
            (0 .. 12, 230 .. 265) : ignore_delay();
            (0 .. 10, 266 .. 315) : ignore_delay();
            (0 .. 12, 353 .. 391) : ignore_delay();
            (0 .. 10, 705 .. 770) : ignore_delay();
        }
        size = 31;
#endif
    }
#endif

    // ---- Stages 1 and 2: now in epochs -----------------------------------------------------
    // Two operations, the second of which needs the first. p4c joins plain actions that stand side
    // by side into one, which the chip would have to do in one stage; a table stays by itself.

    action shift_delay() {
        delay_epochs = delay >> 16;
    }
    table delay_in_epochs {
        actions = { shift_delay; }
        const default_action = shift_delay();
        size = 1;
    }
    action add_epochs() {
        epoch = arrival_epoch + delay_epochs;
    }

    // ---- Stage 1: above TARGET, now and before ---------------------------------------------
    // Needs the delay. Both answers come out as one word, 1 << (above now + 2 * above before).

    const bit<8> PHASE_FIRST_ABOVE = 2;
    const bit<8> PHASE_STILL_ABOVE = 8;

    Register<bit<32>, bit<16>>(QUEUE_STATES) above;
    RegisterAction<bit<32>, bit<16>, bit<8>>(above) above_update = {
        void apply(inout bit<32> state, out bit<8> word) {
            word = this.predicate(delay >= TARGET, state == 1);
            if (delay >= TARGET) {
                state = 1;
            } else {
                state = 0;
            }
        }
    };
    action update_above() { phase = above_update.execute(md.queue); }

    // ---- Stage 2: above TARGET for an INTERVAL? --------------------------------------------
    // Needs the phase. `now` goes where its time has come, so that the register is never old. If no
    // packet has left for 2.1 s, the instant seems to lie ahead, but an INTERVAL is the most it can.

    Register<int<32>, bit<16>>(QUEUE_STATES) first_above;
    RegisterAction<int<32>, bit<16>, bit<8>>(first_above) first_above_set = {
        void apply(inout int<32> state) { state = (int<32>)time + INTERVAL; }
    };
    RegisterAction<int<32>, bit<16>, bit<8>>(first_above) first_above_test = {
        void apply(inout int<32> state, out bit<8> ok) {
            ok = 0;
            if ((int<32>)time - state >= 0 || (int<32>)time - state < -FARTHEST_AHEAD_NS) {
                state = FIRST_ABOVE_MOVED;
                ok = 1;
            }
        }
    };
    action set_first_above() { first_above_set.execute(md.queue); }
    action test_first_above() { ok_to_drop = first_above_test.execute(md.queue); }

    // ---- Stage 3: the dropping state -------------------------------------------------------
    // Needs ok_to_drop, which is what the state becomes.

    Register<bit<8>, bit<16>>(QUEUE_STATES) dropping;
    RegisterAction<bit<8>, bit<16>, bit<8>>(dropping) dropping_update = {
        void apply(inout bit<8> state, out bit<8> before) {
            before = state;
            state = ok_to_drop;
        }
    };
    action update_dropping() { was_dropping = dropping_update.execute(md.queue); }

    // ---- Stage 4: drop_next and count ------------------------------------------------------
    // Needs the state before. Two comparisons, four updates, one word out, two words in from the
    // packet: that is why `number` is one more than count (the math unit sees the word as it was
    // before "+ 1"), why 0 comes out if drop_next is not recent (two answers in one word), and why
    // `time` also brings a synchronisation packet's correction.

    MathUnit<int<32>>(CONTROL_LAW_UNIT) interval_by_sqrt;
    Register<codel_exact_schedule_t, bit<16>>(QUEUE_STATES) schedule;
    RegisterAction<codel_exact_schedule_t, bit<16>, int<32>>(schedule) schedule_enter = {
        void apply(inout codel_exact_schedule_t state, out int<32> recent_number) {
            recent_number = 0;
            if ((int<32>)time - state.drop_next < 16 * INTERVAL) {
                recent_number = state.number;
            }
            state.drop_next = (int<32>)time + INTERVAL;
            state.number = 2;
        }
    };
    RegisterAction<codel_exact_schedule_t, bit<16>, int<32>>(schedule) schedule_step = {
        void apply(inout codel_exact_schedule_t state, out int<32> number) {
            number = 0;
            if ((int<32>)time - state.drop_next >= LONGEST_LAG_NS
                    || (int<32>)time - state.drop_next >= 0) {
                number = state.number;
            }
            if ((int<32>)time - state.drop_next >= LONGEST_LAG_NS) {
                state.drop_next = (int<32>)time - SHORTENED_LAG_NS;
                state.number = state.number + 1;
            } else if ((int<32>)time - state.drop_next >= 0) {
                state.drop_next = state.drop_next + interval_by_sqrt.execute(state.number);
                state.number = state.number + 1;
            }
        }
    };
    RegisterAction<codel_exact_schedule_t, bit<16>, int<32>>(schedule) schedule_correct = {
        void apply(inout codel_exact_schedule_t state) {
            state.drop_next = state.drop_next + (int<32>)time;
            state.number = state.number + (int<32>)sync.added;
        }
    };
    action enter_schedule() {
        md.count = (bit<32>)schedule_enter.execute(md.queue);
        entering = 1;
    }
    action step_schedule() { md.count = (bit<32>)schedule_step.execute(md.queue); }
    action correct_schedule() { schedule_correct.execute(md.queue); }

    // ---- Stage 5: what is remembered -------------------------------------------------------
    // Needs to know that a packet is dropped, and whether as the first one.

    Register<bit<32>, bit<16>>(QUEUE_STATES) last_count;
    RegisterAction<bit<32>, bit<16>, bit<32>>(last_count) last_count_enter = {
        void apply(inout bit<32> state, out bit<32> word) {
            word = state;
            state = 2;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(last_count) last_count_correct = {
        void apply(inout bit<32> state) { state = state + sync.added; }
    };
    action enter_last_count() { last_number = last_count_enter.execute(md.queue); }
    action correct_last_count() { last_count_correct.execute(md.queue); }

    // What the math unit answered in stage 4, whose one word was taken. Nothing is kept here.
    MathUnit<bit<32>>(CONTROL_LAW_UNIT) interval_by_sqrt_again;
    Register<bit<32>, bit<16>>(1) step_taken;
    RegisterAction<bit<32>, bit<16>, bit<32>>(step_taken) step_taken_compute = {
        void apply(inout bit<32> state, out bit<32> word) {
            state = interval_by_sqrt_again.execute(md.count);
            word = state;
        }
    };
    action compute_taken() {
        taken = step_taken_compute.execute(0);
        md.kind = KIND_NEXT;
    }

    Register<int<32>, bit<16>>(QUEUE_STATES) drop_epoch;
    RegisterAction<int<32>, bit<16>, bit<8>>(drop_epoch) drop_epoch_update = {
        void apply(inout int<32> state, out bit<8> is_recent) {
            is_recent = 0;
            if ((int<32>)epoch - state >= -EPOCHS_BACK && (int<32>)epoch - state < SEVENTEEN_INTERVALS_EPOCHS) {
                is_recent = 1;
            }
            state = (int<32>)epoch;
        }
    };
    action update_drop_epoch() { recent = drop_epoch_update.execute(md.queue); }

    // ---- Stage 6 and 7: the count to start with --------------------------------------------
    // Ternary on whole fields: a gateway on some bits of a sum would cut the field and its sum.

    action compute_delta() {
        delta = md.count - last_number;
    }
    action restart() {
        md.count = 1;
    }
    action resume() {
        md.count = delta;
        md.added = delta - 1;
        taken = INTERVAL;
        md.kind = KIND_RESUME;
    }
    // delta > 1 and now - drop_next < 16 * INTERVAL; if not recent, md.count is 0, delta negative
    table choose_count {
        key = {
            delta  : ternary;
            recent : ternary;
        }
        actions = { restart; resume; }
        const default_action = restart();
        const entries = {
            (0x00000000 &&& 0xfffffffe, _) : restart();
            (0x00000000 &&& 0x80000000, 1) : resume();
        }
        size = 2;
    }

    // ---- Stage 8: the control law ----------------------------------------------------------
    // Needs the count. The control plane fills both tables: a spacing for each count up to 16,383,
    // and one for the leading bits of those beyond. Side by side in one stage, each with a result
    // of its own.

    action set_spacing(bit<32> ns) {
        spacing = ns;
    }
    table control_law {
        key = { md.count : exact; }
        actions = { set_spacing; @defaultonly NoAction; }
        const default_action = NoAction();
        size = 16384;
    }
    action set_rough_spacing(bit<32> ns) {
        rough_spacing = ns;
    }
    table control_law_beyond {
        key = { md.count : ternary; }
        actions = { set_rough_spacing; }
        const default_action = set_rough_spacing(INTERVAL);
        size = 4608;
    }

    // ---- Stage 9: what the copy is to correct ----------------------------------------------

    action compute_correction() {
        md.correction = spacing - taken;
    }
    action compute_correction_roughly() {
        md.correction = rough_spacing - taken;
    }

    // Lost copies are those sent and not used.
    Counter<bit<32>, bit<16>>(QUEUE_STATES, CounterType_t.PACKETS) copies_sent;
    Counter<bit<32>, bit<16>>(QUEUE_STATES, CounterType_t.PACKETS) copies_used;

#ifdef CODEL_EXACT_BEFORE_QUEUE
    action synchronise() {
        dprsr_md.resubmit_type = CODEL_EXACT_RESUBMIT;
    }
#else
    // A field, even for a constant: a mirror header is made of fields.
    action synchronise() {
        dprsr_md.mirror_type = CODEL_EXACT_MIRROR;
        md.session = CODEL_EXACT_SESSION;
    }
#endif
    // By itself: an action cannot have a constant (the session) and a computed index at once.
    action count_sent_copy() {
        copies_sent.count(md.queue);
    }
    action count_used_copy() {
        copies_used.count(md.queue);
    }
    action drop_packet() {
        dprsr_md.drop_ctl = 1;
    }
    action mark_packet() {
        md.mark = 1;
    }

    apply {
        if (sync.isValid()) {
            time = sync.correction;
            md.queue = sync.queue;
            correct_schedule();
            correct_last_count();
            count_used_copy();
            drop_packet();
        } else {
            // Stage 0
#ifdef CODEL_EXACT_BEFORE_QUEUE
            time = arrival + delay;
#else
            time = departure[31:0];
            md.queue = queue_number.get(QUEUE_NUMBER_FIELDS(eg_intr_md));
#endif
            md.kind = KIND_DATA;
            md.mark = 0;
            ok_to_drop = 0;
            entering = 0;
            md.count = 0;
            md.added = 0;
#ifndef CODEL_EXACT_BEFORE_QUEUE
            sojourn_time.apply();
#endif
            // Stage 1 and 2
            delay_in_epochs.apply();
            add_epochs();
            // dodequeue
            update_above();
            if (phase == PHASE_FIRST_ABOVE) {
                set_first_above();
            } else if (phase == PHASE_STILL_ABOVE) {
                test_first_above();
            }
            // dequeue
            update_dropping();
            if (ok_to_drop == 1) {
                if (was_dropping == 0) {
                    enter_schedule();
                } else {
                    step_schedule();
                }
                if (entering == 1 || md.count != 0) {
#ifndef CODEL_EXACT_BEFORE_QUEUE
                    if (ecn == 0) {
                        drop_packet();
                    } else {
                        mark_packet();
                    }
#endif
                    update_drop_epoch();
                    if (entering == 1) {
                        enter_last_count();
                        compute_delta();
                        choose_count.apply();
                    } else {
                        compute_taken();
                    }
                    if (md.kind != KIND_DATA) {
                        synchronise();
                        count_sent_copy();
                        control_law_beyond.apply();
                        if (control_law.apply().hit) {
                            compute_correction();
                        } else {
                            compute_correction_roughly();
                        }
#ifdef CODEL_EXACT_BEFORE_QUEUE
                    } else {
                        drop_packet();
#endif
                    }
                }
            }
        }
    }
}

#endif
