//! T0352: comparisons and updates see 32 bits of a word of 64.

#define TOFINO2
#include "shared/egress.p4"
#ifdef BROKEN
    Register<bit<64>, bit<9>>(512) bytes;
    RegisterAction<bit<64>, bit<9>, bit<32>>(bytes) add = {
        void apply(inout bit<64> value, out bit<32> low) {
            // No carry goes from bit 31 to bit 32.
            value = value + 1;
            low = value[31:0];
        }
    };
#else
    Register<bit<32>, bit<9>>(512) bytes;
    RegisterAction<bit<32>, bit<9>, bit<32>>(bytes) add = {
        void apply(inout bit<32> value, out bit<32> low) {
            value = value + 1;
            low = value;
        }
    };
#endif
    apply {
        hdr.report.extra = add.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
