//! T1301: a parser copies and does not compute.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.report);
#ifdef BROKEN
        meta.size = hdr.ipv4.total_len - 20;
#else
        // The control subtracts.
        meta.size = hdr.ipv4.total_len;
#endif
        transition accept;
    }
#include "shared/parser_end.p4"
