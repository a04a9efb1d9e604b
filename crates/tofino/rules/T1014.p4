//! T1014: a default action does not hash.

#include "shared/egress.p4"
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) verdicts;
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) others;
    action count() {
        verdicts.count(hdr.report.verdict);
    }
    action count_other() {
        others.count(hdr.report.verdict);
    }
    table ports {
        key = { eg.egress_port: exact; }
#ifdef BROKEN
        actions = { count; }
        default_action = count();
#else
        actions = { count; NoAction; }
        default_action = NoAction();
#endif
        size = 16;
    }
    apply {
#ifdef BROKEN
        ports.apply();
#else
        if (!ports.apply().hit) {
            count_other();
        }
#endif
    }
#include "shared/egress_end.p4"
