//! T1102: all accesses to a register are in one stage.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) count;
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) read_count = {
        void apply(inout bit<32> value, out bit<32> result) { result = value; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(count) set_count = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            value = hdr.report.drop_next;
        }
    };
    Register<bit<32>, bit<9>>(512) drop_next;
    RegisterAction<bit<32>, bit<9>, bit<32>>(drop_next) read_drop_next = {
        void apply(inout bit<32> value, out bit<32> result) { result = value; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(drop_next) set_drop_next = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            value = hdr.report.count;
        }
    };
    apply {
        if (meta.above_target == 1) {
            // count, and in a later stage drop_next, which is computed from it.
            hdr.report.count = read_count.execute(eg.egress_port);
            hdr.report.extra = set_drop_next.execute(eg.egress_port);
        } else {
#ifdef BROKEN
            // The other way round.
            hdr.report.drop_next = read_drop_next.execute(eg.egress_port);
            hdr.report.extra = set_count.execute(eg.egress_port);
#else
            hdr.report.count = read_count.execute(eg.egress_port);
            hdr.report.drop_next = read_drop_next.execute(eg.egress_port);
#endif
        }
    }
#include "shared/egress_end.p4"
