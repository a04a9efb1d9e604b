//! T0501: all actions of a register together use at most two packet fields.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) drop_next;
    RegisterAction<bit<32>, bit<9>, bit<1>>(drop_next) is_due = {
        void apply(inout bit<32> value, out bit<1> due) {
            due = 0;
            if (meta.state == 1) {
                due = 1;
                value = meta.delay;
            }
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<1>>(drop_next) set = {
        void apply(inout bit<32> value) {
#ifdef BROKEN
            value = hdr.report.drop_next;
#else
            value = meta.delay;
#endif
        }
    };
    apply {
        if (meta.kind == 1) {
            // A copy brings the new value in a header; the actions share one metadata field.
            meta.delay = hdr.report.drop_next;
            set.execute(eg.egress_port);
        } else {
            meta.due = is_due.execute(eg.egress_port);
        }
        hdr.report.verdict = (bit<8>) meta.due;
    }
#include "shared/egress_end.p4"
