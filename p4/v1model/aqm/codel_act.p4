// CoDel-ACT for v1model: its state in two sets of registers that copies bring into line, as on Tofino.
//
// V. Bothra, A. Peer, V. K. Singh, M. Maity, R. Shah: "CoDel-ACT: Realizing CoDel AQM for
// Programmable Switch ASIC", IFIP Networking 2024, section V and Figure 8. bmv2 needs none of this:
// there a packet may read and write a register as often as it likes (codel.p4). It is here to be
// compared with ../../tna/aqm/codel_act.p4, which says why it is as it is and what its two readings are:
// Listing 2, the default, and with -D CODEL_ACT_SLIDES the slides, which drop the first packet above
// TARGET (CODEL_ACT_DROP_FIRST) and add to count with each packet of the dropping state
// (CODEL_ACT_COUNT_PACKETS).
//
//   chk_first_violation   this packet and the one before: above TARGET?
//     first violation     codel_init: delta = countI - lastCount -> count -> drop_next; copy "init"
//     dropping state      codel_update: now >= dropNextU -> drop, countU
//     end of a cycle      copy "end"
//   synchronisation       a clone through the queue of the session's port into egress once more:
//                         "init" writes lastCount, dropNextU, countU; "end" countI, dropNextI
//
//   state         read by                       written by
//   dropping      every packet                  every packet: is it above TARGET?
//   countI        codel_init                    "end": countU of the cycle that ended
//   lastCount     codel_init                    "init": countI as that codel_init found it
//   dropNextI     codel_init                    "end": dropNextU of the cycle that ended
//   dropNextU     codel_update, end of cycle    "init"; codel_update
//   countU        codel_update, end of cycle    "init"; codel_update: + COUNT_STEP a drop, by the
//                                               slides a packet
//
// What the Tofino program has besides is there because an ALU leaves its result in its own register,
// and gives a packet one word of it: prevDropping, countI', dropNextI' and copyU. Here a packet has
// variables.
//
// The interval is INTERVAL / sqrt(count) from the table in ../common/control_law.p4, where Tofino has
// its math unit. COUNT_STEP is 2 as published, which was to make up for that unit's error: with a
// table that is right, intervals are 29 % shorter than RFC 8289's. COUNT_STEP 1 gives the RFC's.
#ifndef AQM_CODEL_ACT_P4
#define AQM_CODEL_ACT_P4

#include "../common/time.p4"
#include "../common/units.p4"
#include "../common/control_law.p4"

#ifdef CODEL_ACT_SLIDES
#define CODEL_ACT_DROP_FIRST            // the first packet above TARGET is dropped
#define CODEL_ACT_COUNT_PACKETS         // each packet of the dropping state adds to count
#endif

#ifndef COUNT_STEP
#define COUNT_STEP  2
#endif

const bit<32> CODEL_ACT_SESSION = 100;
const bit<32> CODEL_ACT_COPY    = 2;    // instance_type of a clone that egress has made

// Which synchronisation a copy brings.
const bit<8> KIND_INIT = 1;             // from codel_init to codel_update
const bit<8> KIND_END  = 2;             // from codel_update to codel_init

// What travels with a copy, as its metadata.
#define CODEL_ACT_FIELDS 1
struct codel_act_t {
    @field_list(CODEL_ACT_FIELDS) bit<8>  kind;
    @field_list(CODEL_ACT_FIELDS) bit<32> queue;        // index of the state
    @field_list(CODEL_ACT_FIELDS) bit<32> count;        // init: for countU; end: for countI
    @field_list(CODEL_ACT_FIELDS) bit<64> drop_next;    // ns; for dropNextU, or for dropNextI
    @field_list(CODEL_ACT_FIELDS) bit<32> last_count;   // init: for lastCount
}

control CodelAct(inout codel_act_t md, inout standard_metadata_t standard_metadata) {

    REGISTER(bit<1>)(QUEUES)  dropping;
    REGISTER(bit<32>)(QUEUES) count_i;
    REGISTER(bit<32>)(QUEUES) last_count;
    REGISTER(time_t)(QUEUES)  drop_next_i;      // ns
    REGISTER(time_t)(QUEUES)  drop_next_u;      // ns
    REGISTER(bit<32>)(QUEUES) count_u;

    time_t  now;
    bit<1>  is_dropping;                // this packet is above TARGET
    bit<1>  was_dropping;               // the packet before was
    time_t  base;                       // what the next drop is counted from
    bit<32> count;                      // and by which count
    time_t  interval;                   // ns, INTERVAL / sqrt(count)
    bit<32> delta;                      // Listing 1, line 7

    ControlLaw() control_law;

    action synchronise(bit<8> kind) {
        md.kind = kind;
        clone_preserving_field_list(CloneType.E2E, CODEL_ACT_SESSION, CODEL_ACT_FIELDS);
    }

    // ---- Figure 8, dashed: the CoDel-ACT packet
    action write_init() {
        last_count.write(md.queue, md.last_count);
        drop_next_u.write(md.queue, md.drop_next);
        count_u.write(md.queue, md.count);
    }
    action write_end() {
        count_i.write(md.queue, md.count);
        drop_next_i.write(md.queue, md.drop_next);
    }

    // ---- Listing 1, line 7 to 12: the count of the new cycle
    action read_init() {
        count_i.read(count, md.queue);
        last_count.read(md.last_count, md.queue);
        drop_next_i.read(md.drop_next, md.queue);
        delta = count - md.last_count;
        md.last_count = count;
    }

    apply {
        if (standard_metadata.instance_type == CODEL_ACT_COPY) {
            if (md.kind == KIND_INIT) {
                write_init();
            } else {
                write_end();
            }
            mark_to_drop(standard_metadata);
        } else {
            now = NANOSECONDS(standard_metadata.egress_global_timestamp);
            md.queue = QUEUE_NUMBER(egress_port);

            // ---- chk_first_violation
            dropping.read(was_dropping, md.queue);
            is_dropping = 0;
            if (NANOSECONDS(standard_metadata.deq_timedelta) >= TARGET) {
                is_dropping = 1;
            }
            dropping.write(md.queue, is_dropping);

            bool first_violation = is_dropping == 1 && was_dropping == 0;
            bool due = false;
            if (first_violation) {
                read_init();
                // As signed numbers: after a cycle with fewer drops delta is negative.
                if ((int<32>)delta > 1 && now < md.drop_next + 16 * INTERVAL) {
                    count = delta;
                } else {
                    count = 1;
                }
                base = now;
            } else {
                drop_next_u.read(base, md.queue);
                count_u.read(count, md.queue);
                due = is_dropping == 1 && now >= base;
            }
            if (first_violation || due) {
                control_law.apply(count, interval);
                md.drop_next = base + interval;
                md.count = count;
            }

            // ---- codel_init: Listing 1, line 13
            if (first_violation) {
                synchronise(KIND_INIT);
#ifdef CODEL_ACT_DROP_FIRST
                mark_to_drop(standard_metadata);
#endif
            }
            // ---- codel_update: Listing 2
            if (due) {
                drop_next_u.write(md.queue, md.drop_next);
#ifndef CODEL_ACT_COUNT_PACKETS
                count_u.write(md.queue, count + COUNT_STEP);
#endif
                mark_to_drop(standard_metadata);
            }
#ifdef CODEL_ACT_COUNT_PACKETS
            if (is_dropping == 1 && !first_violation) {
                count_u.write(md.queue, count + COUNT_STEP);
            }
#endif
            // ---- the cycle has ended
            if (is_dropping == 0 && was_dropping == 1) {
                md.drop_next = base;
                md.count = count;
                synchronise(KIND_END);
            }
        }
    }
}

#endif
