//! T1309: a select looks at what was read from the packet.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
#ifdef BROKEN
        transition select(hdr.ethernet.ether_type) {
            0x0800: first;
            default: second;
        }
    }
    state first {
        meta.kind = 1;
        transition ip;
    }
    state second {
        meta.kind = 2;
        transition ip;
    }
    state ip {
        packet.extract(hdr.ipv4);
        transition select(meta.kind) {
            1: report;
            default: accept;
        }
    }
#else
        packet.extract(hdr.ipv4);
        transition select(hdr.ethernet.ether_type) {
            0x0800: report;
            default: accept;
        }
    }
#endif
    state report {
        packet.extract(hdr.report);
        transition accept;
    }
#include "shared/parser_end.p4"
