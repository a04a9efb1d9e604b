// CoDel (RFC 8289) for the egress control of any v1model program.
//
//     #include "aqm/codel.p4"
//     ...
//     Codel.apply(standard_metadata);          // in the egress control
//
// After R. Kundel et al.: "P4-CoDel: Active Queue Management in Programmable Data Planes", IEEE
// NFV-SDN 2018. Names and order are those of the RFC's sections 5.1 to 5.6.
//
//   dodequeue   sojourn time, depth -> first_above_time -> ok_to_drop
//   dequeue     ok_to_drop, state   -> enter (count, lastcount) | drop | leave
//   control law drop_next = base + INTERVAL / sqrt(count)         (../common/control_law.p4)
//
//   state              read by                   written by
//   first_above_time   packets above TARGET      every packet
//   state              packets ok_to_drop        every packet
//   drop_next          packets ok_to_drop        the packet that enters, and the one behind a drop
//   count              packets ok_to_drop        every drop
//   lastcount          the packet that enters    the packet that enters
//
// Where it leaves the RFC
//  * The RFC's `while` looks at the next packet as soon as it has dropped one. A program sees that
//    packet in its own pass, and only then moves drop_next on: the state DROPPED is in between.
//  * Egress is behind the queue. A packet dropped here has used its turn on the link; what the RFC
//    drops has not.
//  * "A queue of less than one packet" is counted in packets, the only depth that bmv2 knows.
//
// Where it leaves the paper. Listing 1 of 2018 and the bmv2 program that its authors published set
// drop_next = now + INTERVAL / sqrt(count) at a drop; the RFC adds the interval to drop_next itself, so
// that a packet which comes late does not delay the drops after it. -D CODEL_DROP_NEXT_FROM_NOW gives
// the published form. The listing, reduced as the paper says, also starts count at 0 and enters the
// dropping state with the first packet above TARGET; "our implementation is based on the complete
// algorithm", and so is this one.
#ifndef AQM_CODEL_P4
#define AQM_CODEL_P4

#include "../common/time.p4"
#include "../common/units.p4"
#include "../common/control_law.p4"

// Nothing is dropped while no more than this many packets stay behind it: with fewer in the queue
// a drop would leave the link idle (section 5.5, MAXPACKET).
#define CODEL_MAXPACKET 1

// The RFC's `dropping`, and whether drop_next is still to be moved on.
const bit<2> CODEL_IDLE     = 0;        // not dropping
const bit<2> CODEL_DROPPING = 1;        // dropping, the next drop is at drop_next
const bit<2> CODEL_DROPPED  = 2;        // dropping, and the packet before this one was dropped

control Codel(inout standard_metadata_t standard_metadata) {

    REGISTER(time_t)(QUEUES)  first_above_time_of;  // ns; 0: the packet before was below TARGET
    REGISTER(time_t)(QUEUES)  drop_next_of;         // ns
    REGISTER(bit<32>)(QUEUES) count_of;             // drops since dropping began
    REGISTER(bit<32>)(QUEUES) lastcount_of;         // count when it began
    REGISTER(bit<2>)(QUEUES)  state_of;

    time_t  now;
    time_t  sojourn_time;
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
        bit<32> queue = QUEUE_NUMBER(egress_port);
        now = NANOSECONDS(standard_metadata.egress_global_timestamp);
        sojourn_time = NANOSECONDS(standard_metadata.deq_timedelta);

        // ---- dodequeue(), section 5.6
        ok_to_drop = false;
        if (sojourn_time < TARGET || standard_metadata.deq_qdepth <= CODEL_MAXPACKET) {
            first_above_time_of.write(queue, 0);
        } else {
            first_above_time_of.read(first_above_time, queue);
            if (first_above_time == 0) {
                first_above_time_of.write(queue, now + INTERVAL);
            } else if (now >= first_above_time) {
                ok_to_drop = true;
            }
        }

        // ---- dequeue(), section 5.5
        if (!ok_to_drop) {
            state_of.write(queue, CODEL_IDLE);
        } else {
            state_of.read(state, queue);
            drop_next_of.read(drop_next, queue);
            count_of.read(count, queue);
            base = drop_next;
            move_on = (state == CODEL_DROPPED);
            if (state == CODEL_IDLE) {
                // Dropping begins. If it ended a short while ago, the rate that it had come to is a
                // good one to begin with.
                lastcount_of.read(lastcount, queue);
                if (count - lastcount > 1 && now < drop_next + 16 * INTERVAL) {
                    count = count - lastcount;
                } else {
                    count = 1;
                }
                count_of.write(queue, count);
                lastcount_of.write(queue, count);
                base = now;
                move_on = true;
                mark_to_drop(standard_metadata);
            }
            if (move_on) {
                control_law.apply(count, spacing);
                drop_next = base + spacing;
                drop_next_of.write(queue, drop_next);
            }
            if (state != CODEL_IDLE && now >= drop_next) {
                count_of.write(queue, count + 1);
                state_of.write(queue, CODEL_DROPPED);
#ifdef CODEL_DROP_NEXT_FROM_NOW
                // The next packet counts on from here.
                drop_next_of.write(queue, now);
#endif
                mark_to_drop(standard_metadata);
            } else {
                state_of.write(queue, CODEL_DROPPING);
            }
        }
    }
}

#endif
