//! T0708: what one action of a table without key uses, all use.

#include "shared/egress.p4"
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) verdicts;
    action count() {
        verdicts.count(hdr.report.verdict);
    }
    action leave() {
    }
    table account {
#ifndef BROKEN
        key = { eg.egress_port: exact; }
#endif
        actions = { count; leave; }
        default_action = leave();
        size = 1;
    }
    apply {
        account.apply();
    }
#include "shared/egress_end.p4"
