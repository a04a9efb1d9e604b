//! T0602: a register action can only call MathUnit.execute, RegisterParam.read, min, max and predicate.

#include "shared/egress.p4"
    Hash<bit<32>>(HashAlgorithm_t.CRC32) flow_hash;
    Register<bit<32>, bit<9>>(512) last_flow;
    RegisterAction<bit<32>, bit<9>, bit<32>>(last_flow) swap = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
#ifdef BROKEN
            value = flow_hash.get({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr });
#else
            value = meta.count;
#endif
        }
    };
    apply {
        meta.count = flow_hash.get({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr });
        hdr.report.extra = swap.execute(eg.egress_port);
    }
#include "shared/egress_end.p4"
