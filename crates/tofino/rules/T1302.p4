//! T1302: a parser decides by fields alone.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
#ifdef BROKEN
        transition select(hdr.ipv4.ihl == 5 && hdr.ipv4.protocol == 17) {
            true: report;
            false: accept;
        }
#else
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, 17): report;
            default: accept;
        }
#endif
    }
    state report {
        packet.extract(hdr.report);
        transition accept;
    }
#include "shared/parser_end.p4"
