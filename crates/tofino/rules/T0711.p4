//! T0711: a direct object belongs to one table, which names it.

#include "shared/egress.p4"
    DirectCounter<bit<32>>(CounterType_t.PACKETS) by_port;
#ifndef BROKEN
    DirectCounter<bit<32>>(CounterType_t.PACKETS) by_queue;
#endif
    action count_port() {
        by_port.count();
    }
    table ports {
        key = { eg.egress_port: exact; }
        actions = { count_port; }
        counters = by_port;
        size = 16;
    }
#ifdef BROKEN
    table queues {
        key = { eg.egress_qid: exact; }
        actions = { count_port; }
        counters = by_port;
        size = 16;
    }
#else
    action count_queue() {
        by_queue.count();
    }
    table queues {
        key = { eg.egress_qid: exact; }
        actions = { count_queue; }
        counters = by_queue;
        size = 16;
    }
#endif
    apply {
        ports.apply();
        queues.apply();
    }
#include "shared/egress_end.p4"
