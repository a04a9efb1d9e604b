// P4-CoDel's Listing 1 for the ingress control of an NPU program, before the queue.
//
//     #include "aqm/codel_2021.p4"
//     ...
//     Codel2021.apply(npu.egress_port, npu.queue, drop);      // in the ingress control
//
// R. Kundel et al.: "P4-CoDel: Experiences on Programmable Data Plane Hardware", IEEE ICC 2021: the law of
// its Listing 1 on the processor of its section III-B, which sees the queue's depth in packets and nothing
// else. The authors published no NPU code. codel.p4 is RFC 8289's law in the same place.
//
//   if_1   below TARGET                -> not dropping
//   if_2   the first packet above it   -> dropping, sent; drop_next = now + INTERVAL / sqrt(count)
//   if_3   a cycle shortly before      -> count = count - last_count, else 1
//   if_4   dropping, drop_next reached -> dropped; drop_next = now + INTERVAL / sqrt(count + 1)
//
//   state        read by                  written by
//   dropping     packets above TARGET     every packet
//   count        packets above TARGET     if_2 and every drop
//   last_count   if_2                     if_2: count as it found it
//   drop_next    packets above TARGET     if_2 and every drop
//
// Where it leaves RFC 8289
//  * The dropping state begins with the first packet above TARGET, without a drop; the RFC waits an
//    INTERVAL first, and drops as it enters.
//  * drop_next counts from the drop, and last_count is the count of the cycle before.
//  * It decides when a packet comes, by the delay that the queue has now: its depth times PACKET_TIME, as
//    if all packets were full frames.
//
// Threads: up to 7 accesses a packet without mutual exclusion, as in codel.p4; with CODEL_MUTEX a thread
// locks the queue's state first.
#ifndef AQM_CODEL_2021_P4
#define AQM_CODEL_2021_P4

#include "../common/parameters.p4"
#include "../common/control_law.p4"

control Codel2021(in bit<16> port, in bit<8> queue, out bool drop) {

    Memory<bit<1>>(QUEUES)  dropping_of;
    Memory<bit<32>>(QUEUES) count_of;               // drops of the cycle, on what it began with
    Memory<bit<32>>(QUEUES) last_count_of;          // count at the end of the cycle before
    Memory<time_t>(QUEUES)  drop_next_of;           // ns
#ifdef CODEL_MUTEX
    Mutex(QUEUES) queue_lock;
#endif

    bit<32> place;
    bit<32> packets;
    time_t  time;
    bit<1>  dropping;
    bit<32> count;
    bit<32> last_count;
    bit<32> delta;
    time_t  drop_next;
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

        if (packets < TARGET_PACKETS || packets <= CODEL_MAXPACKET) {
            // if_1
            dropping_of.write(place, 0);
        } else {
            dropping = dropping_of.read(place);
            count = count_of.read(place);
            drop_next = drop_next_of.read(place);
            bool enters = dropping == 0;
            if (enters) {
                // if_2
                dropping_of.write(place, 1);
                last_count = last_count_of.read(place);
                last_count_of.write(place, count);
                // if_3. As signed numbers: after a cycle with fewer drops delta is negative.
                delta = count - last_count;
                if ((int<32>)delta > 1 && time < drop_next + 16 * INTERVAL) {
                    count = delta;
                } else {
                    count = 1;
                }
            } else if (drop_next <= time) {
                // if_4
                count = count + 1;
                drop = true;
            }
            if (enters || drop) {
                control_law.apply(count, spacing);
                count_of.write(place, count);
                drop_next_of.write(place, time + spacing);
            }
        }
#ifdef CODEL_MUTEX
        queue_lock.unlock(place);
#endif
    }
}

#endif
