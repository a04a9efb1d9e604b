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
//     4   [drop_next]           base, recent       was_dropping
//     5   [count] [last_count]  count, lastcount   base: here a packet is dropped or marked
//         [drop_epoch]          last_epoch
//     6    differences          delta, age         count, lastcount, last_epoch
//     7    choose_count         count              delta, recent, age
//     8    control_law          spacing            count
//     9    base + spacing       drop_next          -> mirrored copy -> port 68 -> egress again
//
//   The copy, a synchronisation packet, passes the same stages: it writes drop_next in stage 4, at
//   the start of a cycle with a remembered count also count and last_count in stage 5, and ends.
//
//   state        read by                  written by
//   above        every data packet        every data packet: is it above TARGET?
//   first_above  packets above TARGET     the first one: now + INTERVAL; each one for which that
//                                         time has come: now
//   dropping     every data packet        every data packet: ok_to_drop
//   drop_next    packets with ok_to_drop  at a drop: now + INTERVAL; a microsecond later, by the
//                                         copy: base + INTERVAL / sqrt(count)
//   count        at a drop                entering: 1, corrected by the copy; later: + 1
//   last_count   entering                 entering: 1, corrected by the copy
//   drop_epoch   entering                 at a drop: when it was, in units of 65.5 us
//
// Why a copy. A register lives in one stage and a packet may use it once. drop_next is asked in
// stage 4, and what it has to become is known in stage 9, because it takes count, which takes the
// answer of drop_next (the circle of Figure 2 of the 2021 paper, aqm/p4_codel.p4). But the schedule
// changes only when a packet is dropped, and a packet that is dropped can be mirrored. So the
// dropping pass leaves a drop_next far enough ahead that nothing is dropped on it meanwhile, and
// the copy, which comes back through the recirculation port about a microsecond later, puts the
// right one there.
//
// What the dropping pass leaves is a schedule in its own right: count 1 and now + INTERVAL is what
// the RFC has for a cycle without memory. A cycle that starts so needs no copy.
//
// If a copy is lost, the next drop comes an INTERVAL after the last one, late by less than an
// INTERVAL; a cycle that should have started from a remembered count starts from 1. The next copy
// mends the schedule. copies_sent - copies_used is the number of copies lost.
//
// Where it leaves RFC 8289
//  * A packet is dropped behind the scheduler: its turn on the wire is spent. (So with every AQM in
//    Tofino's egress.) The RFC's inner loop, several drops at one instant, is a drop a packet here.
//  * Within the microsecond until the copy is back no second packet is dropped.
//  * "No more than one packet in the queue" is told from cells of 80 bytes.
//  * INTERVAL / sqrt(count) is rounded to 1 ns for counts up to 16,383, and right to 0.1 % above.
//  * When the sojourn time falls below TARGET right behind a dropped packet, the RFC's loop leaves
//    drop_next where it was; here it moves on. That shifts the limit of 16 intervals by a spacing.
//
// Time. 32 bits of nanoseconds, which start again from 0 every 4.295 s; the stateful ALU compares
// differences of signed words modulo 2^32, right for instants less than 2.1 s apart. first_above
// would be older than that in a queue that stays above TARGET, so it moves along with the packets
// once its time has come. Only "less than 16 intervals ago?" can be about a longer time: the answer
// in nanoseconds counts if by drop_epoch the last drop was less than 2^15 units (2.1 s) ago, and
// epochs wrap after 78 h. A port that is paused for more than 2 s misreads sojourn times and
// first_above for as long.
#ifndef AQM_CODEL_EXACT_P4
#define AQM_CODEL_EXACT_P4

#include "../common/control_law.p4"

#if INTERVAL > 125000000
#error "codel_exact tells times up to 2 s apart; 16 * INTERVAL is more: use at most 125000000"
#endif

#define CODEL_EXACT_QUEUES  16384       // 512 ports with 32 queues

// The control plane reads it: from it the entries of the control law are computed.
const bit<32> CODEL_EXACT_INTERVAL = INTERVAL;

// Cells of 80 bytes of a full frame: 1514 bytes, 4 of the check sequence, 9 of the bridge header.
const bit<19> CODEL_EXACT_ONE_PACKET = 20;

// What a synchronisation packet brings; the first byte of its header. KIND_DATA is 0.
const bit<8> KIND_NEXT   = 1;           // drop_next after a drop in the dropping state
const bit<8> KIND_RESUME = 2;           // drop_next and count of a cycle that remembers the last

const MirrorType_t CODEL_EXACT_MIRROR  = 1;
const MirrorId_t   CODEL_EXACT_SESSION = 100;

// In front of a synchronisation packet.
header codel_exact_h {
    bit<8>  kind;                       // KIND_NEXT or KIND_RESUME
    bit<16> queue;                      // index of the state
    bit<32> drop_next;                  // ns
    bit<32> count;                      // resume: for count and lastcount
}

// What the egress deparser needs to write that header.
struct codel_exact_t {
    MirrorId_t session;
    bit<8>  kind;
    bit<16> queue;
    bit<32> drop_next;
    bit<32> count;
    bit<1>  mark;                       // not for the header: set Congestion Experienced
}

control CodelExact(
        in codel_exact_h sync,          // valid: a synchronisation packet
        inout codel_exact_t md,
        in bit<32> arrival,             // ns, global_tstamp[31:0] of ingress; data packets only
        in bit<32> arrival_epoch,       // 65.536 us, global_tstamp[47:16] of ingress
        in bit<48> departure,           // ns, global_tstamp of egress
        in bit<2> ecn,                  // ECN field; 0: packets are dropped, else md.mark is set
        in egress_intrinsic_metadata_t eg_intr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {

    bit<32> time;                       // ns; data: now; synchronisation: the drop_next it brings
    bit<32> delay;                      // ns, sojourn time; 0: next to nothing behind this packet
    bit<32> delay_epochs;               // the same in units of 65.536 us
    bit<32> epoch;                      // now in units of 65.536 us
    bit<8>  phase;                      // one of PHASE_*
    bit<8>  ok_to_drop;                 // above TARGET for an INTERVAL
    bit<8>  was_dropping;               // the packet before had ok_to_drop
    bit<8>  entering;                   // this packet enters the dropping state
    bit<8>  recent;                     // entering: drop_next is less than 16 intervals ago
    bit<32> base;                       // ns, what the spacing is added to; 0: no drop is due
    bit<32> lastcount;
    bit<32> delta;                      // count - lastcount
    bit<32> last_epoch;                 // when the last drop was
    bit<32> age;                        // how long ago that is
    bit<32> spacing;                    // ns, INTERVAL / sqrt(count)
    bit<32> rough_spacing;              // ns, the same to 0.1 %

    // Port and queue in one number. An action could not put it together, because a container takes
    // two sources; the hash unit can.
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) queue_number;

    // ---- Stage 0: the sojourn time ---------------------------------------------------------
    // The RFC's second condition, a queue of no more than one packet, takes the delay away: then
    // the packet is below TARGET for all that follow. A gateway orders 12 bits, a range key 20.

    action measure_delay() {
        delay = departure[31:0] - arrival;
    }
    action ignore_delay() {
        delay = 0;
    }
    table sojourn_time {
        key = { eg_intr_md.deq_qdepth : range; }
        actions = { measure_delay; ignore_delay; }
        const default_action = measure_delay();
        const entries = {
            0 .. CODEL_EXACT_ONE_PACKET : ignore_delay();
        }
        size = 1;
    }

    // ---- Stage 1: above TARGET, now and before ---------------------------------------------
    // Needs the delay. Both answers come out as one word, 1 << (above now + 2 * above before).

    const bit<8> PHASE_FIRST_ABOVE = 2;
    const bit<8> PHASE_STILL_ABOVE = 8;

    Register<bit<32>, bit<16>>(CODEL_EXACT_QUEUES) above;
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
    // Needs the phase. `now` goes where its time has come, so that the register is never old.

    Register<int<32>, bit<16>>(CODEL_EXACT_QUEUES) first_above;
    RegisterAction<int<32>, bit<16>, bit<8>>(first_above) first_above_set = {
        void apply(inout int<32> state) { state = (int<32>)time + INTERVAL; }
    };
    RegisterAction<int<32>, bit<16>, bit<8>>(first_above) first_above_test = {
        void apply(inout int<32> state, out bit<8> ok) {
            ok = 0;
            if ((int<32>)time - state >= 0) {
                state = (int<32>)time;
                ok = 1;
            }
        }
    };
    action set_first_above() { first_above_set.execute(md.queue); }
    action test_first_above() { ok_to_drop = first_above_test.execute(md.queue); }

    // ---- Stage 3: the dropping state -------------------------------------------------------
    // Needs ok_to_drop, which is what the state becomes.

    Register<bit<8>, bit<16>>(CODEL_EXACT_QUEUES) dropping;
    RegisterAction<bit<8>, bit<16>, bit<8>>(dropping) dropping_update = {
        void apply(inout bit<8> state, out bit<8> before) {
            before = state;
            state = ok_to_drop;
        }
    };
    action update_dropping() { was_dropping = dropping_update.execute(md.queue); }

    // ---- Stage 4: drop_next ----------------------------------------------------------------
    // Needs the state before. The ALU has two inputs from the packet for all its actions together,
    // hence `time` also for what a synchronisation packet brings.

    Register<int<32>, bit<16>>(CODEL_EXACT_QUEUES) drop_next;
    RegisterAction<int<32>, bit<16>, bit<8>>(drop_next) drop_next_enter = {
        void apply(inout int<32> state, out bit<8> is_recent) {
            is_recent = 0;
            if ((int<32>)time - state < 16 * INTERVAL) {
                is_recent = 1;
            }
            state = (int<32>)time + INTERVAL;
        }
    };
    RegisterAction<int<32>, bit<16>, int<32>>(drop_next) drop_next_test = {
        void apply(inout int<32> state, out int<32> due) {
            due = 0;
            if ((int<32>)time - state >= 0) {
                due = state;
                state = (int<32>)time + INTERVAL;
            }
        }
    };
    RegisterAction<int<32>, bit<16>, int<32>>(drop_next) drop_next_write = {
        void apply(inout int<32> state) { state = (int<32>)time; }
    };
    action enter_drop_next() {
        recent = drop_next_enter.execute(md.queue);
        entering = 1;
        base = time;
    }
    action test_drop_next() { base = (bit<32>)drop_next_test.execute(md.queue); }
    action write_drop_next() { drop_next_write.execute(md.queue); }

    // ---- Stage 5: what is remembered -------------------------------------------------------
    // Needs to know that a packet is dropped, and whether as the first one.

    Register<bit<32>, bit<16>>(CODEL_EXACT_QUEUES) count;
    RegisterAction<bit<32>, bit<16>, bit<32>>(count) count_enter = {
        void apply(inout bit<32> state, out bit<32> word) {
            word = state;
            state = 1;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(count) count_step = {
        void apply(inout bit<32> state, out bit<32> word) {
            state = state + 1;
            word = state;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(count) count_write = {
        void apply(inout bit<32> state) { state = sync.count; }
    };
    action enter_count() { md.count = count_enter.execute(md.queue); }
    action step_count() {
        md.count = count_step.execute(md.queue);
        md.kind = KIND_NEXT;
    }
    action write_count() { count_write.execute(md.queue); }

    Register<bit<32>, bit<16>>(CODEL_EXACT_QUEUES) last_count;
    RegisterAction<bit<32>, bit<16>, bit<32>>(last_count) last_count_enter = {
        void apply(inout bit<32> state, out bit<32> word) {
            word = state;
            state = 1;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(last_count) last_count_write = {
        void apply(inout bit<32> state) { state = sync.count; }
    };
    action enter_last_count() { lastcount = last_count_enter.execute(md.queue); }
    action write_last_count() { last_count_write.execute(md.queue); }

    Register<bit<32>, bit<16>>(CODEL_EXACT_QUEUES) drop_epoch;
    RegisterAction<bit<32>, bit<16>, bit<32>>(drop_epoch) drop_epoch_update = {
        void apply(inout bit<32> state, out bit<32> word) {
            word = state;
            state = epoch;
        }
    };
    action update_drop_epoch() { last_epoch = drop_epoch_update.execute(md.queue); }

    // ---- Stage 6 and 7: the count to start with --------------------------------------------
    // Ternary on whole fields: a gateway on some bits of a sum would cut the field and its sum.

    action compute_differences() {
        delta = md.count - lastcount;
        age = epoch - last_epoch;
    }
    action restart() {
        md.count = 1;
    }
    action resume() {
        md.count = delta;
        md.kind = KIND_RESUME;
    }
    // delta > 1 and now - drop_next < 16 * INTERVAL
    table choose_count {
        key = {
            delta  : ternary;
            recent : ternary;
            age    : ternary;
        }
        actions = { restart; resume; }
        const default_action = restart();
        const entries = {
            (0x00000000 &&& 0xfffffffe, _, _) : restart();
            (_, 1, 0x00000000 &&& 0xffff8000) : resume();
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

    // ---- Stage 9: the next drop ------------------------------------------------------------

    action compute_drop_next() {
        md.drop_next = base + spacing;
    }
    action compute_drop_next_roughly() {
        md.drop_next = base + rough_spacing;
    }

    // Lost copies are those sent and not used.
    Counter<bit<32>, bit<16>>(CODEL_EXACT_QUEUES, CounterType_t.PACKETS) copies_sent;
    Counter<bit<32>, bit<16>>(CODEL_EXACT_QUEUES, CounterType_t.PACKETS) copies_used;

    // A field, even for a constant: a mirror header is made of fields.
    action mirror() {
        eg_dprsr_md.mirror_type = CODEL_EXACT_MIRROR;
        md.session = CODEL_EXACT_SESSION;
        copies_sent.count(md.queue);
    }
    action count_used_copy() {
        copies_used.count(md.queue);
    }
    action drop_packet() {
        eg_dprsr_md.drop_ctl = 1;
    }
    action mark_packet() {
        md.mark = 1;
    }

    apply {
        if (sync.isValid()) {
            time = sync.drop_next;
            md.queue = sync.queue;
            if (sync.drop_next == 0) {
                time = 1;               // drop_next_test keeps 0 for "not due"
            }
            write_drop_next();
            if (sync.kind == KIND_RESUME) {
                write_count();
                write_last_count();
            }
            count_used_copy();
            drop_packet();
        } else {
            // Stage 0
            time = departure[31:0];
            md.queue = queue_number.get({ 2w0, eg_intr_md.egress_port, eg_intr_md.egress_qid });
            md.kind = KIND_DATA;
            md.mark = 0;
            ok_to_drop = 0;
            entering = 0;
            base = 0;
            sojourn_time.apply();
            // Stage 1 and 2
            delay_epochs = delay >> 16;
            epoch = arrival_epoch + delay_epochs;
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
                    enter_drop_next();
                } else {
                    test_drop_next();
                }
                if (entering == 1 || base != 0) {
                    if (ecn == 0) {
                        drop_packet();
                    } else {
                        mark_packet();
                    }
                    update_drop_epoch();
                    if (entering == 1) {
                        enter_count();
                        enter_last_count();
                        compute_differences();
                        choose_count.apply();
                    } else {
                        step_count();
                    }
                    if (md.kind != KIND_DATA) {
                        mirror();
                        control_law_beyond.apply();
                        if (control_law.apply().hit) {
                            compute_drop_next();
                        } else {
                            compute_drop_next_roughly();
                        }
                    }
                }
            }
        }
    }
}

#endif
