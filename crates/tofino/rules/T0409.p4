//! T0409: the outputs of an action fit four words of 32 bits.

#define TOFINO2
#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) depth;
    RegisterAction2<bit<32>, bit<9>, bit<8>, bit<8>>(depth) compare = {
        void apply(inout bit<32> value, out bit<8> low, out bit<8> high) {
            low = this.predicate<bit<8>>(value < 10, value > 90);
#ifdef BROKEN
            if (value < 10) {
                high = this.predicate<bit<8>>(value < 10, value > 90);
            }
#else
            high = this.address<bit<8>>();
#endif
        }
    };
    apply {
        hdr.report.state = compare.execute(eg.egress_port, hdr.report.verdict);
    }
#include "shared/egress_end.p4"
