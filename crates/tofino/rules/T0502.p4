//! T0502: all actions of a register together use at most four large constants and parameters.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) level;
    RegisterAction<bit<32>, bit<9>, bit<32>>(level) grade = {
        void apply(inout bit<32> value, out bit<32> threshold) {
            threshold = 0;
            if (meta.delay > 1000000) {
                value = 200;
                threshold = 5000000;
            } else if (meta.delay > 100000) {
#ifdef BROKEN
                value = 100;
#else
                value = 200;
#endif
            }
        }
    };
    apply {
        hdr.report.extra = grade.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
