//! T1303: a select looks at 32 bits.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
#ifdef BROKEN
        transition select(hdr.ethernet.dst_addr) {
            0xffffffffffff: accept;
            default: report;
        }
    }
#else
        transition select(hdr.ethernet.dst_addr[47:16]) {
            0xffffffff: low;
            default: report;
        }
    }
    state low {
        transition select(hdr.ethernet.dst_addr[15:0]) {
            0xffff: accept;
            default: report;
        }
    }
#endif
    state report {
        packet.extract(hdr.ipv4);
        packet.extract(hdr.report);
        transition accept;
    }
#include "shared/parser_end.p4"
