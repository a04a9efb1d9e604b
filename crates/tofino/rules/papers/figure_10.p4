//! Figure 10 of the CoDel-ACT paper (2024): one register, read where a variable is at least A and
//! where it is at least B. A value of at least both reads it twice.

const bit<8> A = 10;
const bit<8> B = 20;

#include "../shared/egress.p4"
    Register<bit<32>, bit<9>>(512) R1;
    RegisterAction<bit<32>, bit<9>, bit<32>>(R1) R1_read = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    apply {
        if (meta.state >= A) {
            hdr.report.count = R1_read.execute(eg.egress_port);
        }
        if (meta.state >= B) {
            hdr.report.extra = R1_read.execute(eg.egress_port);
        }
    }
#include "../shared/egress_end.p4"
