// CoDel (RFC 8289) for the ingress control of an NPU program, before the queue.
//
//     #include "aqm/codel.p4"
//     ...
//     Codel.apply(npu.egress_port, npu.queue, drop);      // in the ingress control
//
// After R. Kundel et al., IEEE ICC 2021, section III-B: a function of its own beside the P4 program,
// which sees the queue's depth in packets and nothing else. Names and order are the RFC's. The authors
// published no NPU code: the law here is RFC 8289's, and codel_2021.p4 is the paper's Listing 1.
//
//   dodequeue   depth -> first_above_time -> ok_to_drop
//   dequeue     ok_to_drop, state -> enter (count, lastcount) | drop | leave
//   control law drop_next = base + INTERVAL / sqrt(count)            (../common/control_law.p4)
//
// Where it leaves the RFC
//  * It decides when a packet comes, not when it leaves: by the delay that the queue has now, not by the
//    packet's own. That is the depth times PACKET_TIME, as if all packets were full frames.
//  * The RFC's `while` looks at the next packet as soon as it has dropped one. Here that packet comes
//    later, and only then moves drop_next on: the state DROPPED is in between.
//
// Where it leaves the paper's Listing 1: that enters the dropping state with the first packet above
// TARGET and sets drop_next = now + INTERVAL / sqrt(count) at a drop, where the RFC adds the interval to
// drop_next itself. -D CODEL_DROP_NEXT_FROM_NOW gives the latter alone.
//
// Threads
//  * As the paper describes it there is no mutual exclusion: up to 8 accesses a packet, and between any two
//    of them other threads may be anywhere in here. Two can enter the dropping state at once, or count
//    one drop for two. With CODEL_MUTEX defined, a thread locks the queue's state first; the others wait.
//    codel_cas.p4 is right without waiting.
#ifndef AQM_CODEL_P4
#define AQM_CODEL_P4

#include "../common/parameters.p4"
#include "../common/control_law.p4"

// The RFC's `dropping`, and whether drop_next is still to be moved on.
const bit<2> CODEL_IDLE     = 0;        // not dropping
const bit<2> CODEL_DROPPING = 1;        // dropping, the next drop is at drop_next
const bit<2> CODEL_DROPPED  = 2;        // dropping, and the packet before this one was dropped

control Codel(in bit<16> port, in bit<8> queue, out bool drop) {

    Memory<time_t>(QUEUES)  first_above_time_of;    // ns; 0: the packet before found less than TARGET
    Memory<time_t>(QUEUES)  drop_next_of;           // ns
    Memory<bit<32>>(QUEUES) count_of;               // drops since dropping began
    Memory<bit<32>>(QUEUES) lastcount_of;           // count when it began
    Memory<bit<2>>(QUEUES)  state_of;
#ifdef CODEL_MUTEX
    Mutex(QUEUES) queue_lock;
#endif

    bit<32> place;
    bit<32> packets;
    time_t  time;
    bool    ok_to_drop;                 // above TARGET for at least INTERVAL
    time_t  first_above_time;
    bit<2>  state;
    time_t  drop_next;
    bit<32> count;
    bit<32> lastcount;
    time_t  base;                       // what drop_next is counted from
    bool    move_on;                    // drop_next is to be computed anew
    time_t  spacing;                    // INTERVAL / sqrt(count)

    ControlLaw() control_law;

    apply {
        place = QUEUE_NUMBER(port, queue);
#ifdef CODEL_MUTEX
        queue_lock.lock(place);
#endif
        packets = queue_packets(port, queue);
        time = now();
        drop = false;

        // ---- dodequeue(), section 5.6
        ok_to_drop = false;
        if (packets < TARGET_PACKETS || packets <= CODEL_MAXPACKET) {
            first_above_time_of.write(place, 0);
        } else {
            first_above_time = first_above_time_of.read(place);
            if (first_above_time == 0) {
                first_above_time_of.write(place, time + INTERVAL);
            } else if (time >= first_above_time) {
                ok_to_drop = true;
            }
        }

        // ---- dequeue(), section 5.5
        if (!ok_to_drop) {
            state_of.write(place, CODEL_IDLE);
        } else {
            state = state_of.read(place);
            drop_next = drop_next_of.read(place);
            count = count_of.read(place);
            base = drop_next;
            move_on = (state == CODEL_DROPPED);
            if (state == CODEL_IDLE) {
                // Dropping begins. If it ended a short while ago, the rate that it had come to is a
                // good one to begin with.
                lastcount = lastcount_of.read(place);
                if (count - lastcount > 1 && time < drop_next + 16 * INTERVAL) {
                    count = count - lastcount;
                } else {
                    count = 1;
                }
                count_of.write(place, count);
                lastcount_of.write(place, count);
                base = time;
                move_on = true;
                drop = true;
            }
            if (move_on) {
                control_law.apply(count, spacing);
                drop_next = base + spacing;
                drop_next_of.write(place, drop_next);
            }
            if (state != CODEL_IDLE && time >= drop_next) {
                count_of.write(place, count + 1);
                state_of.write(place, CODEL_DROPPED);
#ifdef CODEL_DROP_NEXT_FROM_NOW
                // The next packet counts on from here.
                drop_next_of.write(place, time);
#endif
                drop = true;
            } else {
                state_of.write(place, CODEL_DROPPING);
            }
        }
#ifdef CODEL_MUTEX
        queue_lock.unlock(place);
#endif
    }
}

#endif
