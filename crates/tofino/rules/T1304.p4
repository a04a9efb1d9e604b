//! T1304: a parser advances by constants and whole bytes.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
#ifdef BROKEN
        packet.advance((bit<32>)hdr.ipv4.ihl);
        transition report;
    }
#else
        transition select(hdr.ipv4.ihl) {
            5: report;
            6: skip_option;
            default: accept;
        }
    }
    state skip_option {
        packet.advance(32);
        transition report;
    }
#endif
    state report {
        packet.extract(hdr.report);
        transition accept;
    }
#include "shared/parser_end.p4"
