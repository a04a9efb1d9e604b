//! T0704: the registers and meters of one table action share an index, and so do its counters.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) count;
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) add = {
        void apply(inout bit<32> value, out bit<32> total) {
            value = value + 1;
            total = value;
        }
    };
    Register<bit<32>, bit<9>>(512) drop_next;
    RegisterAction<bit<32>, bit<9>, bit<32>>(drop_next) set = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            value = meta.now;
        }
    };
    action account() {
        hdr.report.count = add.execute(eg.egress_port);
#ifdef BROKEN
        hdr.report.drop_next = set.execute((bit<9>) eg.egress_qid);
#else
        hdr.report.drop_next = set.execute(eg.egress_port);
#endif
    }
    table queues {
        key = { meta.state : exact; }
        actions = { account; }
        size = 16;
    }
    apply {
        queues.apply();
    }
#include "shared/egress_end.p4"
