// RED for any v1model program: drops in ingress, by the average length of the queue.
//
// S. Floyd, V. Jacobson: "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
// Transactions on Networking 1(4), 1993, figure 2, with the gentle variant of 2000. Names are the
// paper's.
//
//     Red.apply(standard_metadata);            // in ingress, when egress_spec is known
//     RedQueue.apply(standard_metadata);       // in egress
//
//   egress   deq_qdepth -> q, q_time
//   ingress  q, q_time -> avg -> p_b -> p_a -> drop?  q + 1
//
//   state    read by                 written by
//   q        every packet, ingress   egress: packets left behind; ingress: one more
//   q_time   if the queue is empty   egress: when it became so
//   avg      every packet, ingress   every packet, ingress
//   count    every packet, ingress   every packet, ingress
//
// q and q_time are known in egress and wanted in ingress. On bmv2 both may use one register; on a
// chip a register belongs to one of them, and the way back is recirculation (aqm/queue_report.p4).
//
// Where it leaves the paper
//  * w_q and s are powers of two, because P4 shifts and does not divide.
//  * A packet that is dropped at the tail is counted in q until the next packet leaves.
#ifndef AQM_RED_P4
#define AQM_RED_P4

#include "../common/units.p4"

#ifndef RED_MIN_TH
#define RED_MIN_TH  5                   // packets on average: nothing is dropped below
#endif
#ifndef RED_MAX_TH
#define RED_MAX_TH  15                  // packets on average: max_p is reached
#endif
#ifndef RED_MAX_P
#define RED_MAX_P   20000               // millionths: drop probability at max_th
#endif
#define RED_W_Q     9                   // weight of the queue in its average: 2^-9 = 0.00195
#ifndef RED_S
#define RED_S       7                   // transmission time of a packet: 2^7 us
#endif

// Probabilities, and parts of a packet, are in 2^-24.
#define RED_ONE     (1 << 24)
#define RED_P(millionths)   (((millionths) << 24) / 1000000)

// p_b = max_p (avg - min_th) / (max_th - min_th), and gentle: max_p + (1 - max_p) (avg - max_th) /
// max_th. The factors of avg, in 2^-24, are the compiler's to divide.
#define RED_SLOPE   (RED_P(RED_MAX_P) / (RED_MAX_TH - RED_MIN_TH))
#define RED_GENTLE  ((RED_ONE - RED_P(RED_MAX_P)) / RED_MAX_TH)

REGISTER(bit<32>)(QUEUES) red_q;        // packets in the queue
REGISTER(bit<48>)(QUEUES) red_q_time;   // us: start of the idle time

control RedQueue(in standard_metadata_t standard_metadata) {
    apply {
        red_q.write(QUEUE_NUMBER(egress_port), (bit<32>)standard_metadata.deq_qdepth);
        if (standard_metadata.deq_qdepth == 0) {
            red_q_time.write(QUEUE_NUMBER(egress_port), standard_metadata.egress_global_timestamp);
        }
    }
}

control Red(inout standard_metadata_t standard_metadata) {

    REGISTER(bit<64>)(QUEUES) avg_of;   // packets, in 2^-24
    REGISTER(bit<32>)(QUEUES) count_of; // packets since the last drop, and one; 0: avg < min_th

    bit<32> q;
    bit<48> q_time;
    bit<48> m;                          // packets that could have been sent while idle
    bit<64> avg;
    bit<32> count;                      // 0 stands for the paper's -1, so it is one more
    bit<64> p_b;                        // in 2^-24
    bit<24> thrown;

    // avg (1 - w_q)^(2^k), if m has that bit: (1 - 2^-9)^(2^k) in 2^-24.
    action age(bit<64> factor) {
        avg = (avg * factor) >> 24;
    }

    apply {
        if (standard_metadata.egress_spec != DROP_PORT) {
            bit<32> queue = QUEUE_NUMBER(egress_spec);
            red_q.read(q, queue);
            avg_of.read(avg, queue);
            count_of.read(count, queue);

            // ---- The average
            if (q > 0) {
                bit<64> size = (bit<64>)q << 24;
                if (size >= avg) {
                    avg = avg + ((size - avg) >> RED_W_Q);
                } else {
                    avg = avg - ((avg - size) >> RED_W_Q);
                }
            } else {
                // As if m packets had found the queue empty, one each s.
                red_q_time.read(q_time, queue);
                m = (standard_metadata.ingress_global_timestamp - q_time) >> RED_S;
                if (m[47:13] != 0) { avg = 0; }
                if (m[0:0] == 1)   { age(16744448); }
                if (m[1:1] == 1)   { age(16711744); }
                if (m[2:2] == 1)   { age(16646528); }
                if (m[3:3] == 1)   { age(16516857); }
                if (m[4:4] == 1)   { age(16260538); }
                if (m[5:5] == 1)   { age(15759773); }
                if (m[6:6] == 1)   { age(14804032); }
                if (m[7:7] == 1)   { age(13062915); }
                if (m[8:8] == 1)   { age(10170922); }
                if (m[9:9] == 1)   { age(6165961); }
                if (m[10:10] == 1) { age(2266113); }
                if (m[11:11] == 1) { age(306086); }
                if (m[12:12] == 1) { age(5584); }
            }
            avg_of.write(queue, avg);

            // ---- The probability
            if (avg < (RED_MIN_TH << 24)) {
                p_b = 0;
            } else if (avg < (RED_MAX_TH << 24)) {
                p_b = ((avg - (RED_MIN_TH << 24)) * RED_SLOPE) >> 24;
            } else if (avg < (2 * RED_MAX_TH << 24)) {
                p_b = RED_P(RED_MAX_P) + (((avg - (RED_MAX_TH << 24)) * RED_GENTLE) >> 24);
            } else {
                p_b = RED_ONE;
            }

            // ---- The dice. p_a = p_b / (1 - count p_b) makes the gaps between drops uniform;
            // thrown < p_a is multiplied out, so that nothing is divided.
            if (avg < (RED_MIN_TH << 24)) {
                count = 0;
            } else {
                random(thrown, 0, RED_ONE - 1);
                bit<64> accumulated = (bit<64>)count * p_b;
                bool hit = true;
                if (accumulated < RED_ONE) {
                    hit = (bit<64>)thrown * (RED_ONE - accumulated) < p_b << 24;
                }
                if (hit) {
                    mark_to_drop(standard_metadata);
                    count = 1;
                } else {
                    count = count + 1;
                }
            }
            count_of.write(queue, count);
            if (standard_metadata.egress_spec != DROP_PORT) {
                red_q.write(queue, q + 1);
            }
        }
    }
}

#endif
