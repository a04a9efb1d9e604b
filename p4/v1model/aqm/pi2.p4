// PI2 for any v1model program: drops in ingress, with the square of a controlled probability.
//
// K. De Schepper, O. Bondarenko, I. Tsang, B. Briscoe: "PI2: A Linearized AQM for both Classic and
// Scalable TCP", CoNEXT 2016; here for Classic traffic alone.
//
//     Pi2.apply(md.report, standard_metadata);             // in ingress, when egress_spec is known
//     QueueReport.apply(md.report, standard_metadata);     // in egress
//
//   report   delay -> p += ALPHA (delay - TARGET) + BETA (delay - previous)
//   packet   two dice, both below p -> drop: with p^2, and no tuning table as PIE needs it
//
// Where it leaves the paper: the delay is that of the packet that is cloned (aqm/queue_report.p4), not
// of the one at the head, and while nothing is sent p does not fall. Probabilities have 40 bits. p^2 is
// at most 25 %: of a flood that nobody answers the queue's own limit drops the rest.
#ifndef AQM_PI2_P4
#define AQM_PI2_P4

#include "../common/units.p4"

#ifndef PI2_TARGET
#define PI2_TARGET  20000               // us: delay to settle at
#endif
#ifndef T_UPDATE
#define T_UPDATE    32000               // us: time between two updates
#endif
#define REPORT_PERIOD   T_UPDATE
#include "queue_report.p4"

#define PI2_ONE     (1 << 40)
#define PI2_MOST    (PI2_ONE / 2)       // p^2 is at most 25 %

// ALPHA 5/16 Hz and BETA 50/16 Hz, for delays in us.
#define PI2_ALPHA   (5 * PI2_ONE / 16000000)
#define PI2_BETA    (50 * PI2_ONE / 16000000)

control Pi2(in queue_report_t report, inout standard_metadata_t standard_metadata) {

    REGISTER(bit<64>)(QUEUES) p_of;             // in 2^-40
    REGISTER(bit<32>)(QUEUES) previous_of;      // us
    REGISTER(bit<32>)(QUEUES) depth_of;         // packets, at the last report

    bit<64> p;
    bit<32> previous;
    bit<32> depth;
    int<64> change;
    bit<40> one;
    bit<40> other;

    apply {
        if (standard_metadata.instance_type == RECIRCULATED) {
            p_of.read(p, report.queue);
            previous_of.read(previous, report.queue);
            change = PI2_ALPHA * ((int<64>)(bit<64>)report.delay - PI2_TARGET)
                   + PI2_BETA * ((int<64>)(bit<64>)report.delay - (int<64>)(bit<64>)previous)
                   + (int<64>)p;
            if (change < 0) {
                change = 0;
            } else if (change > PI2_ONE) {
                change = PI2_ONE;
            }
            p_of.write(report.queue, (bit<64>)change);
            previous_of.write(report.queue, report.delay);
            depth_of.write(report.queue, report.depth);
            mark_to_drop(standard_metadata);
        } else if (standard_metadata.egress_spec != DROP_PORT) {
            bit<32> queue = QUEUE_NUMBER(egress_spec);
            p_of.read(p, queue);
            depth_of.read(depth, queue);
            if (p > PI2_MOST) {
                p = PI2_MOST;
            }
            random(one, 0, PI2_ONE - 1);
            random(other, 0, PI2_ONE - 1);
            // With two packets in the queue or less a drop would leave the link idle.
            if (depth > 2 && (bit<64>)one < p && (bit<64>)other < p) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

#endif
