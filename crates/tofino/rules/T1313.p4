//! T1313: a parser counter starts from a constant.

#include "shared/parser.p4"
#ifdef BROKEN
    ParserCounter() left;
#endif
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.report);
#ifdef BROKEN
        left.set(hdr.ipv4.ttl);
        transition select(left.is_zero()) {
            true:    accept;
#else
        transition select(hdr.ipv4.ttl) {
            0:       accept;
#endif
            default: tag;
        }
    }
    state tag {
        packet.extract(hdr.tags.next);
        transition accept;
    }
#include "shared/parser_end.p4"
