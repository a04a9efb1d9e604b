//! T1305: a constant chooses an element of a stack.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.tags[0]);
        packet.extract(hdr.tags[1]);
        packet.extract(hdr.report);
#ifdef BROKEN
        meta.size = hdr.tags[hdr.report.state[1:0]].value;
#else
        meta.size = hdr.tags[1].value;
#endif
        transition accept;
    }
#include "shared/parser_end.p4"
