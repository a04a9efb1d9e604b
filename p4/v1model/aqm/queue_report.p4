// Tells ingress how long a queue is: for queue managements that decide before the queue.
//
//     QueueReport.apply(md.report, standard_metadata);     // in egress
//
// The queue's delay is known in egress only, where it is too late to keep a packet out. The way back
// is the one that the 2018 P4-CoDel paper names: each REPORT_PERIOD a packet is cloned, and the copy
// is recirculated with the queue's state as its metadata. In ingress it ends.
//
//   egress   packet, a period after the last report -> clone (E2E) with md.report
//            clone, through the queue of the session's port -> recirculate with md.report
//   ingress  recirculated: the queue management takes md.report and drops the packet
//
// It needs a mirror session (REPORT_SESSION) to a port without traffic, and `queue_report_t report`
// in the program's metadata. Without packets there are no reports: an empty queue stays as it was
// reported last.
#ifndef AQM_QUEUE_REPORT_P4
#define AQM_QUEUE_REPORT_P4

#include "../common/units.p4"

const bit<32> REPORT_SESSION = 100;

// standard_metadata.instance_type
const bit<32> EGRESS_CLONE = 2;
const bit<32> RECIRCULATED = 4;

// What travels with the copy.
#define REPORT_FIELDS 1
struct queue_report_t {
    @field_list(REPORT_FIELDS) bit<32> queue;   // its number
    @field_list(REPORT_FIELDS) bit<32> delay;   // us: how long the packet was in the queue
    @field_list(REPORT_FIELDS) bit<32> depth;   // packets that it left behind
    @field_list(REPORT_FIELDS) bit<48> made;    // us: when; a copy's own timestamps are 0 in ingress
}

control QueueReport(inout queue_report_t report, inout standard_metadata_t standard_metadata) {

    // us: when the next report is due. The clock starts again after 8.9 years, so a report is due
    // unless that time lies ahead, and a period is the furthest that it can.
    REGISTER(bit<48>)(QUEUES) due_of;

    bit<48> due;
    bit<48> now;

    apply {
        if (standard_metadata.instance_type == EGRESS_CLONE) {
            recirculate_preserving_field_list(REPORT_FIELDS);
        } else {
            now = standard_metadata.egress_global_timestamp;
            report.queue = QUEUE_NUMBER(egress_port);
            due_of.read(due, report.queue);
            if (due - now - 1 >= REPORT_PERIOD) {
                report.delay = standard_metadata.deq_timedelta;
                report.depth = (bit<32>)standard_metadata.deq_qdepth;
                report.made = now;
                clone_preserving_field_list(CloneType.E2E, REPORT_SESSION, REPORT_FIELDS);
                // A period after the last was due, so that the mean is right; behind a gap from now.
                due = due + REPORT_PERIOD;
                if (due - now - 1 >= REPORT_PERIOD) {
                    due = now + REPORT_PERIOD;
                }
                due_of.write(report.queue, due);
            }
        }
    }
}

#endif
