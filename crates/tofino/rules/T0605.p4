//! T0605: an action makes one division or one search of the entry, and leaves its ALUs idle.

#define TOFINO2
#include "shared/egress.p4"
    Register<bit<8>, bit<13>>(4096) depths;
    MinMaxAction2<bit<8>, bit<9>, bit<8>, bit<4>>(depths) shortest = {
        void apply(inout bit<128> value, out bit<8> depth, out bit<4> where) {
#ifdef BROKEN
            depth = this.min8(value, 0xff);
            bit<8> deepest = this.max8(value, 0xff, where);
#else
            depth = this.min8(value, 0xff, where);
#endif
        }
    };
    apply {
        bit<4> where;
        hdr.report.state = shortest.execute(eg.egress_port, where);
        hdr.report.verdict = (bit<8>)where;
    }
#include "shared/egress_end.p4"
