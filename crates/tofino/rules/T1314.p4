//! T1314: a parser fills a field from the same bit of a byte.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.report);
#ifdef BROKEN
        meta.size = hdr.ipv4.src_addr[19:12] ++ hdr.ipv4.ttl;
#else
        meta.size = hdr.ipv4.total_len;
#endif
        transition accept;
    }
#include "shared/parser_end.p4"
