// DualPI2 for any v1model program: marks and drops in egress, by a probability that a packet updates.
//
// K. De Schepper, B. Briscoe, G. White: RFC 9332, "Dual-Queue Coupled Active Queue Management (AQM) for
// Low Latency, Low Loss, and Scalable Throughput (L4S)", appendix A. Names in comments are the RFC's.
//
//     DualPi2Classifier.apply(hdr.ipv4.ecn, standard_metadata);                // in ingress
//     random(one, 0, DUALPI2_ONE - 1);                                        // in egress, and other
//     DualPi2.apply(hdr.ipv4.ecn, one, other, mark, standard_metadata);
//
//   ingress   ECT(1), CE -> queue of priority 1; the others -> 0
//   egress    packet that finds T_UPDATE passed: p' += ALPHA (delay - TARGET) + BETA (delay - previous)
//             L4S packet:      marked if the ramp or 2 p' exceeds the first random number
//             Classic packet:  signalled if p' exceeds both, so with p'^2
//             2 p' >= 1:       both queues drop with p'^2 whatever the ECN field says; L4S packets are all marked
//
// The delay of an update is that of the Classic packet that makes it; of an L4S packet the larger of its own and
// that of the last Classic packet since the last update. Updates count from each other: behind a gap, p' falls by what
// an empty queue takes from it in that time (an integral gain's worth).
//
// bmv2 has strict priority only, which the RFC rules out (section 4.2.2): while L4S packets wait, Classic ones do not
// leave, so L4S traffic beyond the link's rate starves them. Overload holds that traffic's delay at TARGET by drops, but
// gives Classic packets no turn.
//
// Where it leaves RFC 9332
//  * A packet is dropped behind the scheduler: its turn on the wire is spent.
//  * The clock counts microseconds. The native mark looks at packets behind (Th_len), as the RFC does.
//  * Signals are drawn, as in Linux, not counted.
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

#define DUALPI2_ONE     (1 << 40)

// ALPHA 0.16 Hz and BETA 3.2 Hz, for delays in us, rounded.
#define DUALPI2_ALPHA   (16 * DUALPI2_ONE / 100000000)
#define DUALPI2_BETA    (32 * DUALPI2_ONE / 10000000)
// What an update takes from p' in an empty queue.
#define DUALPI2_IDLE    (DUALPI2_ALPHA * DUALPI2_TARGET)

// One of the ramp's width, in 2^-40.
#define DUALPI2_SLOPE   (DUALPI2_ONE / DUALPI2_RANGE)

control DualPi2Classifier(in bit<2> ecn, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.priority = 0;
        standard_metadata.priority[0:0] = ecn[0:0];
    }
}

control DualPi2(
        in bit<2> ecn,                  // its low bit says the queue
        in bit<40> one,                 // two random numbers
        in bit<40> other,
        out bool mark,
        inout standard_metadata_t standard_metadata) {

    // Both queues of a port share this state: bmv2 serves them in one thread.
    REGISTER(bit<64>)(512) p_of;            // p', in 2^-40
    REGISTER(bit<32>)(512) previous_of;     // us: delay of the last update
    REGISTER(bit<32>)(512) classic_of;      // us: delay of the last Classic packet since then
    REGISTER(bit<48>)(512) due_of;          // us: time of the next update

    bit<32> port;
    bit<48> now;
    bit<48> due;
    bit<48> late;
    bit<32> waited;
    bit<32> delay;
    bit<32> previous;
    bit<64> p;
    bit<64> ramp;
    int<64> change;
    bool signal;

    // alpha (delay - target) + beta (delay - previous), within 0 and 1.
    action update_p() {
        change = DUALPI2_ALPHA * ((int<64>)(bit<64>)delay - DUALPI2_TARGET)
               + DUALPI2_BETA * ((int<64>)(bit<64>)delay - (int<64>)(bit<64>)previous) + (int<64>)p;
        change = change < 0 ? 0 : change;
        change = change > DUALPI2_ONE ? DUALPI2_ONE : change;
        p = (bit<64>)change;
    }

    apply {
        mark = false;
        port = (bit<32>)standard_metadata.egress_port;
        now = standard_metadata.egress_global_timestamp;
        waited = standard_metadata.deq_timedelta;
        p_of.read(p, port);
        due_of.read(due, port);
        classic_of.read(delay, port);

        // The clock starts again after 8.9 years: an update is due unless its time lies ahead.
        if (due - now - 1 >= T_UPDATE) {
            previous_of.read(previous, port);
            late = now - due;
            due = due + T_UPDATE;
            if (late >= T_UPDATE) {
                due = now + T_UPDATE;
                if (late > (bit<48>)waited && late < 1 << 40) {
                    // Nothing waited for that long: updates of an empty queue, of which the first takes back BETA.
                    change = (int<64>)p - DUALPI2_BETA * (int<64>)(bit<64>)previous
                           - DUALPI2_IDLE / T_UPDATE * (int<64>)(bit<64>)(late - (bit<48>)waited);
                    p = change < 0 ? 0 : (bit<64>)change;
                    previous = 0;
                }
            }
            if (ecn[0:0] == 0 || waited > delay) {
                delay = waited;
            }
            update_p();
            p_of.write(port, p);
            previous_of.write(port, delay);
            due_of.write(port, due);
            classic_of.write(port, 0);
        }
        if (ecn[0:0] == 0) {
            classic_of.write(port, waited);
        }

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
