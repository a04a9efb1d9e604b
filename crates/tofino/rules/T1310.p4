//! T1310: a header of variable size is the last that a state extracts.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.options, ((bit<32>)hdr.ipv4.ihl - 5) * 32);
#ifdef BROKEN
        packet.extract(hdr.report);
        transition accept;
    }
#else
        transition select(hdr.ipv4.protocol) {
            17: report;
            default: accept;
        }
    }
    state report {
        packet.extract(hdr.report);
        transition accept;
    }
#endif
#include "shared/parser_end.p4"
