//! T1201: an unsigned comparison of 32-bit times is wrong every 4.29 s.

#include "shared/egress.p4"
#ifdef BROKEN
    Register<bit<32>, bit<9>>(512) drop_next;
    RegisterAction<bit<32>, bit<9>, bit<1>>(drop_next) is_due = {
        void apply(inout bit<32> value, out bit<1> due) {
            due = 0;
            if (meta.now >= value) {
                due = 1;
            }
        }
    };
#else
    Register<int<32>, bit<9>>(512) drop_next;
    RegisterAction<int<32>, bit<9>, bit<1>>(drop_next) is_due = {
        void apply(inout int<32> value, out bit<1> due) {
            due = 0;
            if ((int<32>) meta.now - value >= 0) {
                due = 1;
            }
        }
    };
#endif
    apply {
        meta.now = prsr.global_tstamp[31:0];
        hdr.report.verdict = (bit<8>) is_due.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
