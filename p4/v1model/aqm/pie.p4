// PIE (RFC 8033) for any v1model program: drops in ingress, by a controlled probability.
//
//     Pie.apply(md.report, standard_metadata);             // in ingress, when egress_spec is known
//     QueueReport.apply(md.report, standard_metadata);     // in egress
//
// The basic algorithm of section 4. Names are the RFC's. Reports of the queue come each T_UPDATE
// (aqm/queue_report.p4); a report is what the RFC calls an update.
//
//   report   delay -> drop_prob += ALPHA (delay - QDELAY_REF) + BETA (delay - qdelay_old)
//                     qdelay_old, burst_allowance, depth
//   packet   drop_prob, burst_allowance, safeguards -> drop?
//
// Where it leaves the RFC
//  * The delay is that of the packet that is cloned, and the depth of the queue (a safeguard) is as
//    old as the report: up to T_UPDATE.
//  * While nothing is sent nothing is reported, and drop_prob does not fall. A flood can bring it to
//    1; then nothing would be sent, nothing reported, and everything dropped for ever. So when no
//    report has come for a MAX_BURST, which is long for a queue that is not empty, one packet is let
//    through in each: its report says what is left behind it. On a line that takes longer for a
//    packet than MAX_BURST (150 ms: below 80 kbit/s) this is one packet too many now and then.
//  * Probabilities have 40 bits. burst_allowance is kept as what of MAX_BURST is used up, because
//    registers begin with 0.
#ifndef AQM_PIE_P4
#define AQM_PIE_P4

#include "../common/units.p4"

#ifndef QDELAY_REF
#define QDELAY_REF  15000               // us: latency to settle at
#endif
#ifndef T_UPDATE
#define T_UPDATE    15000               // us: time between two updates
#endif
#ifndef MAX_BURST
#define MAX_BURST   150000              // us: bursts shorter than this are let through
#endif
#define REPORT_PERIOD   T_UPDATE
#include "queue_report.p4"

// Probabilities are in 2^-40.
#define PIE_ONE     (1 << 40)
#define PIE_P(millionths)   (((millionths) << 40) / 1000000)

// ALPHA 1/8 Hz and BETA 1 1/4 Hz, for delays in us.
#define PIE_ALPHA   (125 * PIE_ONE / 1000000000)
#define PIE_BETA    (1250 * PIE_ONE / 1000000000)

control Pie(in queue_report_t report, inout standard_metadata_t standard_metadata) {

    REGISTER(bit<64>)(QUEUES) drop_prob_of;         // in 2^-40
    REGISTER(bit<32>)(QUEUES) qdelay_old_of;        // us
    REGISTER(bit<32>)(QUEUES) burst_used_of;        // us: MAX_BURST - burst_allowance
    REGISTER(bit<32>)(QUEUES) depth_of;             // packets, at the last report
    REGISTER(bit<48>)(QUEUES) heard_of;             // us: the last report, or a packet let through

    bit<64> drop_prob;
    bit<48> heard;
    bit<32> qdelay_old;
    bit<32> burst_used;
    bit<32> depth;
    int<64> change;
    bit<40> thrown;

    // Section 4.2: the lower the probability, the smaller the steps.
    action tune(bit<8> bits) {
        change = change >> bits;
    }

    apply {
        if (standard_metadata.instance_type == RECIRCULATED) {
            // ---- Sections 4.2 and 4.4: an update
            drop_prob_of.read(drop_prob, report.queue);
            qdelay_old_of.read(qdelay_old, report.queue);
            burst_used_of.read(burst_used, report.queue);

            change = PIE_ALPHA * ((int<64>)(bit<64>)report.delay - QDELAY_REF)
                   + PIE_BETA * ((int<64>)(bit<64>)report.delay - (int<64>)(bit<64>)qdelay_old);
            if (drop_prob < PIE_P(1)) {
                tune(11);
            } else if (drop_prob < PIE_P(10)) {
                tune(9);
            } else if (drop_prob < PIE_P(100)) {
                tune(7);
            } else if (drop_prob < PIE_P(1000)) {
                tune(5);
            } else if (drop_prob < PIE_P(10000)) {
                tune(3);
            } else if (drop_prob < PIE_P(100000)) {
                tune(1);
            } else if (change > PIE_P(20000)) {
                change = PIE_P(20000);              // section 5.5
            }
            change = change + (int<64>)drop_prob;
            if (change < 0) {
                change = 0;
            } else if (change > PIE_ONE) {
                change = PIE_ONE;
            }
            drop_prob = (bit<64>)change;
            if (report.delay == 0 && qdelay_old == 0) {
                drop_prob = (drop_prob * 64225) >> 16;      // * 0.98
            }
            burst_used = burst_used |+| T_UPDATE;
            if (drop_prob == 0 && report.delay < QDELAY_REF / 2 && qdelay_old < QDELAY_REF / 2) {
                burst_used = 0;                     // congestion is over
            }
            drop_prob_of.write(report.queue, drop_prob);
            qdelay_old_of.write(report.queue, report.delay);
            burst_used_of.write(report.queue, burst_used);
            depth_of.write(report.queue, report.depth);
            heard_of.write(report.queue, report.made);
            mark_to_drop(standard_metadata);
        } else if (standard_metadata.egress_spec != DROP_PORT) {
            // ---- Section 4.1: a packet
            bit<32> queue = QUEUE_NUMBER(egress_spec);
            drop_prob_of.read(drop_prob, queue);
            qdelay_old_of.read(qdelay_old, queue);
            burst_used_of.read(burst_used, queue);
            depth_of.read(depth, queue);
            bool calm = qdelay_old < QDELAY_REF / 2 && drop_prob < PIE_P(200000);
            if (burst_used >= MAX_BURST && !calm && depth > 2) {
                random(thrown, 0, PIE_ONE - 1);
                if ((bit<64>)thrown < drop_prob) {
                    heard_of.read(heard, queue);
                    if (standard_metadata.ingress_global_timestamp - heard >= MAX_BURST) {
                        heard_of.write(queue, standard_metadata.ingress_global_timestamp);
                    } else {
                        mark_to_drop(standard_metadata);
                    }
                }
            }
        }
    }
}

#endif
