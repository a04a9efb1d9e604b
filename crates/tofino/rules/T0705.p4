//! T0705: two accesses to a register exclude each other.

#include "shared/egress.p4"
    Register<bit<32>, bit<9>>(512) peak;
    RegisterAction<bit<32>, bit<9>, bit<32>>(peak) read = {
        void apply(inout bit<32> value, out bit<32> result) { result = value; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(peak) raise = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = max(value, meta.delay);
            result = value;
        }
    };
    apply {
        if (hdr.ipv4.ttl >= 64) {
            hdr.report.delay = read.execute(eg.egress_port);
        }
#ifdef BROKEN
        if (hdr.ipv4.ttl < 128) {
#else
        if (hdr.ipv4.ttl < 64) {
#endif
            hdr.report.extra = raise.execute(eg.egress_port);
        }
    }
#include "shared/egress_end.p4"
