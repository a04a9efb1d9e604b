// P4-CoDel for Tofino: CoDel in two stateful ALUs.
//
// R. Kundel, A. Rizk, J. Blendin, B. Koldehofe, R. Hark, R. Steinmetz: "P4-CoDel: Experiences on
// Programmable Data Plane Hardware", IEEE ICC 2021, Listing 2 and Figure 4. It behaves like the
// program that the authors published; the text is ours.
//
//   stage   0            1              2               3               4               5
//           delay   ->   excess    ->   violation  ->   SALU 1     ->   SALU 2     ->   drop
//           now -        TARGET |-|     excess == 0     [dropping]      [drop_next,     if due and
//           arrival      delay                                            count]        violation
//
//   state       written                                     read
//   dropping    SALU 1, by every packet                     SALU 1: was the packet before above TARGET?
//   drop_next   SALU 2, first violation: now + INTERVAL     SALU 2: is a drop due?
//               SALU 2, each drop: + INTERVAL / sqrt(count)
//   count       SALU 2, first violation: 1; each drop: + 1  SALU 2, by its math unit
//
// Each stage needs a result of the one before: a difference has to be in a packet field before a
// second operation can use it, a comparison is only possible in a stage's input (gateway or
// stateful ALU), and a register's word can only change in the stage that holds it. That is why
// drop_next and count share a register: each decides over the other (Figure 2 of the paper).
//
// Where the published program leaves RFC 8289
//  * The dropping state is entered at once by the first packet above TARGET, and the first drop
//    comes an INTERVAL later. The RFC waits an INTERVAL first and drops as it enters; the drops
//    fall on the same times if the delay stays above TARGET.
//  * No memory of the last cycle (`if_3` of the paper's Listing 1): count starts with 1.
//  * No test for a queue of less than one packet. The paper's Listing 2 has it, the program has not.
//  * SALU 2 takes every packet with drop_next in the past for a drop: it then counts, and moves
//    drop_next. Only stage 5 looks whether the delay is above TARGET. So below TARGET count and
//    drop_next go on, without effect: the next first violation sets both anew.
//  * INTERVAL / sqrt(count) is as rough as the math unit (common/control_law.p4).
//  * Times are 32-bit nanoseconds and compared as unsigned numbers, which breaks once every
//    4.295 s, when the clock starts again from 0. A drop_next that has already wrapped looks long
//    past: every packet above TARGET is dropped until the clock wraps, too. A drop_next that has
//    not wrapped while the clock has looks far away: nothing is dropped until a packet below TARGET
//    ends the cycle. Under a flood that nobody answers there is none: in 2 1/2 hours at 1.5 times
//    2 Mbit/s it dropped 0 to 18 % in five minutes and for 6.3 minutes nothing. This is the
//    published law, and stays. (For CoDel-ACT, see there.)
#ifndef AQM_P4_CODEL_P4
#define AQM_P4_CODEL_P4

#include "../common/control_law.p4"

struct p4_codel_schedule_t {
    bit<32> drop_next;              // ns: a packet after this time is dropped
    bit<32> count;                  // drops of this cycle, and one
}

// One state for each egress port, as published; all queues of a port share it.
control P4Codel(
        in bit<48> arrival,         // ns, global_tstamp of ingress
        in bit<48> departure,       // ns, global_tstamp of egress
        in PortId_t egress_port,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {

    bit<32> now;                    // ns, modulo 2^32
    bit<32> delay;                  // ns, sojourn time
    bit<32> remainder;              // ns, what is left up to TARGET; 0: nothing
    bit<1>  violation;              // delay >= TARGET
    bit<1>  first_violation;        // and the packet before was below
    bit<1>  due;                    // a drop is due

    // ---- SALU 1: chk_first_violation, line 9 of Listing 2 ----

    Register<bit<32>, PortId_t>(512) dropping;
    RegisterAction<bit<32>, PortId_t, bit<1>>(dropping) check_first_violation = {
        void apply(inout bit<32> state, out bit<1> first) {
            first = 0;
            if (state == 0 && violation == 1) {
                first = 1;
            }
            if (violation == 1) {
                state = 1;
            } else {
                state = 0;
            }
        }
    };

    // ---- SALU 2: line 10 of Listing 2 ----
    // It uses the ALU up: two fields of the packet, two comparisons, four updates, one output.

    MathUnit<bit<32>>(CONTROL_LAW_UNIT) interval_by_sqrt;
    Register<p4_codel_schedule_t, PortId_t>(512) schedule;
    RegisterAction<p4_codel_schedule_t, PortId_t, bit<1>>(schedule) update_schedule = {
        void apply(inout p4_codel_schedule_t state, out bit<1> drop) {
            drop = 0;
            if (first_violation == 1) {
                state.drop_next = now + INTERVAL;
                state.count = 1;
            } else if (now > state.drop_next) {
                // The math unit works beside the adders and sees the count as it was, in whatever
                // order these two lines stand: the first drop schedules the second after
                // INTERVAL / sqrt(1).
                state.drop_next = state.drop_next + interval_by_sqrt.execute(state.count);
                state.count = state.count + 1;
                drop = 1;
            }
        }
    };

    // A saturating subtraction turns ">=", which no action can do, into "== 0", which a gateway can.
    action compute_remainder() {
        remainder = TARGET |-| delay;
    }

    action drop_packet() {
        eg_dprsr_md.drop_ctl = 1;
    }

    apply {
        // Stage 0
        now = departure[31:0];
        delay = departure[31:0] - arrival[31:0];
        // Stage 1: needs the delay
        compute_remainder();
        // Stage 2: needs the remainder in a gateway
        if (remainder == 0) {
            violation = 1;
        } else {
            violation = 0;
        }
        // Stage 3: needs the violation as an input of the ALU
        first_violation = check_first_violation.execute(egress_port);
        // Stage 4: needs the first violation as an input of the ALU
        due = update_schedule.execute(egress_port);
        // Stage 5: needs the output of SALU 2 in a gateway
        if (due == 1 && violation == 1) {
            drop_packet();
        }
    }
}

#endif
