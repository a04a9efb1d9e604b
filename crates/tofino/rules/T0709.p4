//! T0709: a table's direct counter, meter, filter or register works in every action of its entries.

#include "shared/egress.p4"
    DirectCounter<bit<32>>(CounterType_t.PACKETS) met;
    action count() {
        met.count();
    }
    table account {
        key = { eg.egress_port: exact; }
#ifdef BROKEN
        actions = { count; NoAction; }
#else
        actions = { count; @defaultonly NoAction; }
#endif
        default_action = NoAction();
        counters = met;
        size = 16;
    }
    apply {
        account.apply();
    }
#include "shared/egress_end.p4"
