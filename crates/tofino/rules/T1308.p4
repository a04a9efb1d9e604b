//! T1308: verify decides nothing.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
#ifdef BROKEN
        verify(hdr.ipv4.version == 4, error.NoMatch);
        transition report;
#else
        transition select(hdr.ipv4.version) {
            4: report;
            default: reject;
        }
#endif
    }
    state report {
        packet.extract(hdr.report);
        transition accept;
    }
#include "shared/parser_end.p4"
