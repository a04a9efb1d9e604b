// CoDel (RFC 8289) on many threads, right without a mutex: codel.p4's decisions, its state in one word.
//
//     #include "aqm/codel_cas.p4"
//     ...
//     CodelCas.apply(npu.egress_port, npu.queue, drop);   // in the ingress control
//
// A thread reads the word, decides what the next state is, and swaps it in if the word is still what it
// has read; else somebody was faster, and it decides again on what that one has left. So every order in
// which threads meet equals some order one after the other, the order of their swaps. Nobody waits for
// anybody who waits: each time one thread fails another one has succeeded.
//
// The law is RFC 8289's, as in codel.p4; -D CODEL_DROP_NEXT_FROM_NOW as there.
//
//   | 2 state | 10 count | 10 lastcount | 21 first_above_time | 21 drop_next |      64 bits
//
// What the width costs
//  * Times are whole ticks of 2^16 ns (65.5 us) modulo 2^21 (137 s): TARGET is met to 1.3 %, INTERVAL to
//    0.07 %, and times are compared by their difference, right as long as they are less than 68 s apart.
//    A queue that was not above TARGET for longer than that may begin at an old rate instead of at one.
//  * Counts end at 1023; then INTERVAL / sqrt(count) is 3.1 ms.
//
// A thread that fails ATTEMPTS times lets its packet pass without a decision, as CoDel would a packet
// that came between two others; the run's memory shows how often (`gave_up`).
#ifndef AQM_CODEL_CAS_P4
#define AQM_CODEL_CAS_P4

#include "../common/parameters.p4"
#include "../common/control_law.p4"

typedef bit<21> tick_t;                 // 2^16 ns, modulo 2^21

#define TICKS(nanoseconds)  ((tick_t)((nanoseconds) >> 16))
#define BEFORE(a, b)        (((a) - (b))[20:20] == 1)       // a is earlier than b, modulo 2^21

#define ATTEMPTS            16

const bit<2>  CODEL_IDLE     = 0;       // not dropping
const bit<2>  CODEL_DROPPING = 1;       // dropping, the next drop is at drop_next
const bit<2>  CODEL_DROPPED  = 2;       // dropping, and the packet before this one was dropped
const bit<10> MAX_COUNT      = 1023;

control CodelCas(in bit<16> port, in bit<8> queue, out bool drop) {

    Memory<bit<64>>(QUEUES) state_of;
    Memory<bit<32>>(1)      gave_up;

    bit<32> place;
    bit<32> packets;
    tick_t  time;
    bit<64> seen;                       // the word as it was read
    bit<64> found;                      // the word that the swap met
    bool    done;
    bit<2>  state;
    bit<10> count;
    bit<10> lastcount;
    tick_t  first_above_time;           // 0: the packet before found less than TARGET
    tick_t  drop_next;
    tick_t  base;                       // what drop_next is counted from
    bool    move_on;                    // drop_next is to be computed anew
    time_t  spacing;                    // INTERVAL / sqrt(count)

    ControlLaw() control_law;

    apply {
        place = QUEUE_NUMBER(port, queue);
        packets = queue_packets(port, queue);
        seen = state_of.read(place);
        done = false;
        drop = false;

        for (bit<8> attempt = 0; attempt < ATTEMPTS && !done; attempt = attempt + 1) {
            time = TICKS(now());
            state = seen[63:62];
            count = seen[61:52];
            lastcount = seen[51:42];
            first_above_time = seen[41:21];
            drop_next = seen[20:0];
            drop = false;

            // ---- dodequeue(), section 5.6, and dequeue(), section 5.5
            if (packets < TARGET_PACKETS || packets <= CODEL_MAXPACKET) {
                first_above_time = 0;
                state = CODEL_IDLE;
            } else if (first_above_time == 0) {
                first_above_time = time + TICKS((time_t)INTERVAL);
                if (first_above_time == 0) {
                    first_above_time = 1;           // 0 means none
                }
                state = CODEL_IDLE;
            } else if (BEFORE(time, first_above_time)) {
                state = CODEL_IDLE;
            } else {
                base = drop_next;
                move_on = (state == CODEL_DROPPED);
                if (state == CODEL_IDLE) {
                    if (count - lastcount > 1 && BEFORE(time, drop_next + TICKS((time_t)(16 * INTERVAL)))) {
                        count = count - lastcount;
                    } else {
                        count = 1;
                    }
                    lastcount = count;
                    base = time;
                    move_on = true;
                    drop = true;
                }
                if (move_on) {
                    control_law.apply((bit<32>)count, spacing);
                    drop_next = base + TICKS(spacing);
                }
                if (state != CODEL_IDLE && !BEFORE(time, drop_next)) {
                    if (count != MAX_COUNT) {
                        count = count + 1;
                    }
                    state = CODEL_DROPPED;
#ifdef CODEL_DROP_NEXT_FROM_NOW
                    drop_next = time;       // the next packet counts on from here
#endif
                    drop = true;
                } else {
                    state = CODEL_DROPPING;
                }
            }

            // A packet that changes nothing has decided when it read the word.
            bit<64> next = state ++ count ++ lastcount ++ first_above_time ++ drop_next;
            if (next == seen) {
                done = true;
            } else {
                found = state_of.compare_and_swap(place, seen, next);
                done = (found == seen);
                seen = found;
            }
        }
        if (!done) {
            drop = false;
            gave_up.test_and_add(0, 1);
        }
    }
}

#endif
