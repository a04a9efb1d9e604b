//! T0703: Register.read and Register.write in one pass are one access.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) packets;
#ifndef BROKEN
    RegisterAction<bit<32>, bit<9>, bit<32>>(packets) add = {
        void apply(inout bit<32> value, out bit<32> total) {
            value = value + 1;
            total = value;
        }
    };
#endif
    apply {
#ifdef BROKEN
        hdr.report.count = packets.read(eg.egress_port);
        hdr.report.count = hdr.report.count + 1;
        packets.write(eg.egress_port, hdr.report.count);
#else
        hdr.report.count = add.execute(eg.egress_port);
#endif
    }
#include "shared/egress_end.p4"
