//! T1027: the tables of an action profile have the same actions.

#include "shared/egress.p4"
    ActionProfile(64) marks;
    action mark(bit<8> state) {
        hdr.report.state = state;
    }
    action judge(bit<8> verdict) {
        hdr.report.verdict = verdict;
    }
    table ports {
        key = { eg.egress_port: exact; }
        actions = { mark; }
        implementation = marks;
        size = 16;
    }
    table queues {
        key = { eg.egress_qid: exact; }
#ifdef BROKEN
        actions = { judge; }
#else
        actions = { mark; }
#endif
        implementation = marks;
        size = 16;
    }
    apply {
        if (hdr.report.size == 1) {
            ports.apply();
        } else {
            queues.apply();
        }
    }
#include "shared/egress_end.p4"
