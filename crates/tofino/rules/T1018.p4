//! T1018: the address of a register, counter or meter is a field or a constant.

#include "shared/egress.p4"
    Register<bit<32>, bit<16>>(4096) state;
    RegisterAction<bit<32>, bit<16>, bit<32>>(state) count = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = value + 1;
            result = value;
        }
    };
#ifdef BROKEN
    apply {
        hdr.report.count = count.execute(hdr.report.size + meta.size);
    }
#else
    bit<16> index;
    action to_index() {
        index = hdr.report.size + meta.size;
    }
    apply {
        to_index();
        hdr.report.count = count.execute(index);
    }
#endif
#include "shared/egress_end.p4"
