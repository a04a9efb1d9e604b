//! T0707: every action of a table uses all its counters, and all its registers and meters, or none.

#include "shared/egress.p4"
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) dropped;
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) sent;
    action count_dropped() {
        dropped.count(hdr.report.verdict);
    }
    action count_sent() {
        sent.count(hdr.report.verdict);
    }
#ifdef BROKEN
    table count {
        key = { eg.egress_port: exact; }
        actions = { count_dropped; count_sent; NoAction; }
        default_action = NoAction();
        size = 16;
    }
    apply {
        count.apply();
    }
#else
    table count_drops {
        key = { eg.egress_port: exact; }
        actions = { count_dropped; NoAction; }
        default_action = NoAction();
        size = 16;
    }
    table count_others {
        key = { eg.egress_port: exact; }
        actions = { count_sent; NoAction; }
        default_action = NoAction();
        size = 16;
    }
    apply {
        count_drops.apply();
        count_others.apply();
    }
#endif
#include "shared/egress_end.p4"
