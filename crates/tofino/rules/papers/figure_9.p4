//! Figure 9 of the CoDel-ACT paper (2024): two registers, in one order here and in the other there.
//! The second access of each branch needs the result of the first, so that a stage lies between.

#include "../shared/egress.p4"
    Register<bit<32>, bit<9>>(512) R1;
    RegisterAction<bit<32>, bit<9>, bit<32>>(R1) R1_action = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            value = hdr.report.extra;
        }
    };
    Register<bit<32>, bit<9>>(512) R2;
    RegisterAction<bit<32>, bit<9>, bit<32>>(R2) R2_action = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            value = hdr.report.extra;
        }
    };
    apply {
        if (meta.above_target == 1) {
            hdr.report.extra = R1_action.execute(eg.egress_port);
            hdr.report.count = R2_action.execute(eg.egress_port);
        } else {
            hdr.report.extra = R2_action.execute(eg.egress_port);
            hdr.report.count = R1_action.execute(eg.egress_port);
        }
    }
#include "../shared/egress_end.p4"
