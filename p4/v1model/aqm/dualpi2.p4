// DualPI2 for any v1model program: marks and drops in egress, by a probability that a packet updates.
//
// K. De Schepper, B. Briscoe, G. White: RFC 9332, "Dual-Queue Coupled Active Queue Management (AQM) for
// Low Latency, Low Loss, and Scalable Throughput (L4S)", appendix A. Names in comments are the RFC's.
//
//     DualPi2Classifier.apply(hdr.ipv4.ecn, md.number, standard_metadata);     // in ingress, with egress_spec
//     random(one, 0, DUALPI2_ONE - 1);                                        // in egress, and other
//     DualPi2.apply(hdr.ipv4.ecn, md.number, one, other, mark, standard_metadata);
//
//   ingress   ECT(1), CE -> queue of priority 1; the others -> 0
//             the packet's number in its queue -> metadata; its arrival -> a ring
//   egress    packet that finds T_UPDATE passed: p' += ALPHA (delay - TARGET) + BETA (delay - previous)
//             L4S packet:      marked if the ramp or 2 p' exceeds the first random number
//             Classic packet:  signalled if p' exceeds both, so with p'^2
//             2 p' >= 1:       both queues drop with p'^2 whatever the ECN field says; L4S packets are all marked
//
// The delay of an update is the age of the older head at the instant at which it was due. The packet that makes it was
// the head of its own queue; the head of the other queue is the packet behind the last one that left, and the ring has
// its arrival. Updates that fell due since the last departure are made together: those of an empty queue, then those
// with a head.
//
// bmv2 has strict priority only, which the RFC rules out (section 4.2.2): while L4S packets wait, Classic ones do not
// leave, so L4S traffic beyond the link's rate starves them. Overload holds that traffic's delay at TARGET by drops, but
// gives Classic packets no turn.
//
// Where it leaves RFC 9332
//  * A packet is dropped behind the scheduler: its turn on the wire is spent.
//  * The clock counts microseconds. The native mark looks at packets behind (Th_len), as the RFC does.
//  * Signals are drawn, as in Linux, not counted.
//  * Behind DUALPI2_RING waiting packets a head counts as younger than it is.
#ifndef AQM_DUALPI2_P4
#define AQM_DUALPI2_P4

#include "../common/units.p4"

#ifndef DUALPI2_TARGET
#define DUALPI2_TARGET  15000           // us: Classic delay to settle at
#endif
#ifndef DUALPI2_MIN_TH
#define DUALPI2_MIN_TH  800             // us: L4S delay from which the ramp rises
#endif
#ifndef DUALPI2_RANGE
#define DUALPI2_RANGE   400             // us: from minTh to marking everything, 1 at least
#endif
#ifndef DUALPI2_TH_LEN
#define DUALPI2_TH_LEN  1               // packets: no such marks up to this L4S queue
#endif
#ifndef T_UPDATE
#define T_UPDATE        16000           // us: time between two updates
#endif

#ifndef DUALPI2_RING
#define DUALPI2_RING    1024            // packets of a queue whose arrival is known; a power of two
#endif

#define DUALPI2_ONE     (1 << 40)

// ALPHA 0.16 Hz and BETA 3.2 Hz, for delays in us, rounded.
#define DUALPI2_ALPHA   (16 * DUALPI2_ONE / 100000000)
#define DUALPI2_BETA    (32 * DUALPI2_ONE / 10000000)
// What an update takes from p' in an empty queue.
#define DUALPI2_IDLE    (DUALPI2_ALPHA * DUALPI2_TARGET)

// One of the ramp's width, in 2^-40.
#define DUALPI2_SLOPE   (DUALPI2_ONE / DUALPI2_RANGE)
// 1 / T_UPDATE in 2^-40: bmv2 does not divide. Exact for times below DUALPI2_LATE.
#define DUALPI2_PER_US  (DUALPI2_ONE / T_UPDATE + 1)
// us: without a departure for so long (two hours), or when the clock starts again, p' starts at 0.
#define DUALPI2_LATE    (1 << 33)
#define DUALPI2_QUEUE(port, queue)  ((bit<32>)(port ++ queue))
#define DUALPI2_PLACE(queue, number) ((queue) * DUALPI2_RING + (bit<32>)((number) & (DUALPI2_RING - 1)))

// What ingress writes and egress reads, for each port's Classic and L4S queue.
REGISTER(bit<16>)(1024) dualpi2_joined;                 // number of the last packet that was sent to the queue
REGISTER(bit<32>)(1024 * DUALPI2_RING) dualpi2_arrival; // us: when that packet and those before it came

control DualPi2Classifier(
        in bit<2> ecn,
        out bit<16> number,
        inout standard_metadata_t standard_metadata) {

    bit<32> queue;

    apply {
        standard_metadata.priority = 0;
        standard_metadata.priority[0:0] = ecn[0:0];
        queue = DUALPI2_QUEUE(standard_metadata.egress_spec, ecn[0:0]);
        dualpi2_joined.read(number, queue);
        number = number + 1;
        dualpi2_joined.write(queue, number);
        dualpi2_arrival.write(DUALPI2_PLACE(queue, number), (bit<32>)standard_metadata.ingress_global_timestamp);
    }
}

control DualPi2(
        in bit<2> ecn,                  // its low bit says the queue
        in bit<16> number,              // as the classifier wrote it
        in bit<40> one,                 // two random numbers
        in bit<40> other,
        out bool mark,
        inout standard_metadata_t standard_metadata) {

    // Both queues of a port share this state: bmv2 serves them in one thread.
    REGISTER(bit<64>)(512) p_of;            // p', in 2^-40
    REGISTER(bit<32>)(512) previous_of;     // us: delay of the last update
    REGISTER(bit<48>)(512) due_of;          // us: time of the next update
    REGISTER(bit<16>)(1024) left_of;        // number of the last packet that left each queue

    bit<32> port;
    bit<32> queue;
    bit<16> joined;
    bit<16> left;
    bit<32> arrival;
    bit<48> now;
    bit<48> due;
    bit<48> late;
    bit<48> passed;
    bit<48> empty;
    bit<32> waited;
    bit<32> age;
    bit<32> delay;
    bit<32> previous;
    bit<64> p;
    bit<64> ramp;
    int<64> count;
    int<64> change;
    bool signal;

    // Intervals of T_UPDATE in a time.
    action count_intervals(in bit<48> time, out bit<48> intervals) {
        intervals = (bit<48>)((bit<64>)time * DUALPI2_PER_US >> 40);
    }

    // Age of the older head, of which the packet itself is one. Of a queue that nothing has left there is no head: the
    // switch may not have it.
    action find_age() {
        age = waited;
        queue = DUALPI2_QUEUE(standard_metadata.egress_port, (1 ^ ecn[0:0]));
        dualpi2_joined.read(joined, queue);
        left_of.read(left, queue);
        dualpi2_arrival.read(arrival, DUALPI2_PLACE(queue, left + 1));
        arrival = (bit<32>)now - arrival;
        age = left != 0 && joined != left && arrival > age ? arrival : age;
    }

    // Updates while nothing waited, of which the first takes back BETA.
    action update_empty() {
        change = (int<64>)p - DUALPI2_BETA * (int<64>)(bit<64>)previous - DUALPI2_IDLE * (int<64>)(bit<64>)empty;
        p = change < 0 ? 0 : (bit<64>)change;
        previous = 0;
    }

    // alpha (delay - target) + beta (delay - previous), within 0 and 1. Of several updates `delay` is that of the last
    // one; the delays before it are shorter by T_UPDATE each.
    action update_p() {
        count = (int<64>)(bit<64>)(passed - empty);
        change = DUALPI2_ALPHA * (count * ((int<64>)(bit<64>)delay - DUALPI2_TARGET)
                                  - (count * (count - 1) >> 1) * T_UPDATE)
               + DUALPI2_BETA * ((int<64>)(bit<64>)delay - (int<64>)(bit<64>)previous) + (int<64>)p;
        change = change < 0 ? 0 : change;
        change = change > DUALPI2_ONE ? DUALPI2_ONE : change;
        p = (bit<64>)change;
        previous = delay;
    }

    apply {
        mark = false;
        port = (bit<32>)standard_metadata.egress_port;
        now = standard_metadata.egress_global_timestamp;
        waited = standard_metadata.deq_timedelta;
        p_of.read(p, port);
        due_of.read(due, port);

        // An update is due unless its time lies ahead.
        late = now - due;
        if (due - now - 1 >= T_UPDATE) {
            previous_of.read(previous, port);
            if (late >= DUALPI2_LATE) {
                p = 0;
                previous = 0;
                due = now;
                late = 0;
            }
            find_age();
            count_intervals(late, passed);
            passed = passed + 1;
            empty = 0;
            if (late >= (bit<48>)age) {
                count_intervals(late - (bit<48>)age, empty);
                empty = empty + 1;
                update_empty();
            }
            if (passed != empty) {
                delay = age - (bit<32>)(late - (passed - 1) * T_UPDATE);
                update_p();
            }
            due = due + passed * T_UPDATE;
            p_of.write(port, p);
            previous_of.write(port, previous);
            due_of.write(port, due);
        }

        // Behind the last packet of a queue nothing waits, also if later ones found it full and were lost.
        queue = DUALPI2_QUEUE(standard_metadata.egress_port, ecn[0:0]);
        left = number;
        if (standard_metadata.deq_qdepth == 0) {
            dualpi2_joined.read(left, queue);
        }
        left_of.write(queue, left);

        signal = (bit<64>)one < p && (bit<64>)other < p;
        if (ecn[0:0] == 0) {
            if (signal && (ecn == 0 || p >= DUALPI2_ONE / 2)) {
                mark_to_drop(standard_metadata);
            }
            mark = signal;
        } else if (signal && p >= DUALPI2_ONE / 2) {
            mark_to_drop(standard_metadata);
        } else {
            ramp = 0;
            if (standard_metadata.deq_qdepth > DUALPI2_TH_LEN && waited > DUALPI2_MIN_TH) {
                ramp = (bit<64>)(waited - DUALPI2_MIN_TH) * DUALPI2_SLOPE;
            }
            mark = (bit<64>)one < p << 1 || (bit<64>)one < ramp;
        }
    }
}

#endif
