//! T0310: an update writes the whole word.

#include "shared/egress.p4"
    Register<bit<8>, bit<9>>(512) sequence;
    RegisterAction<bit<8>, bit<9>, bit<8>>(sequence) next = {
        void apply(inout bit<8> value, out bit<8> before) {
            before = value;
#ifdef BROKEN
            value = (bit<8>) (meta.count + 1);
#else
            value = (bit<8>) meta.count;
#endif
        }
    };
    apply {
        meta.count = meta.count + 1;
        hdr.report.state = next.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
