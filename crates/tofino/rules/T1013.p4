//! T1013: an action that hashes has no action data where its table has no key.

#include "shared/egress.p4"
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) verdicts;
#ifdef BROKEN
    action mark(bit<16> size) {
        hdr.report.size = size;
        verdicts.count(hdr.report.verdict);
    }
    table marking {
        actions = { mark; }
        default_action = mark(5);
    }
    apply {
        marking.apply();
    }
#else
    action mark(bit<16> size) {
        hdr.report.size = size;
    }
    action count() {
        verdicts.count(hdr.report.verdict);
    }
    table marking {
        actions = { mark; }
        default_action = mark(5);
    }
    apply {
        marking.apply();
        count();
    }
#endif
#include "shared/egress_end.p4"
