//! T1313: a parser counter starts from a constant.

#include "shared/parser.p4"
    ParserCounter() left;
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
#ifdef BROKEN
        left.set(hdr.ipv4.ttl);
#else
        left.set(8w2);
#endif
        transition tag;
    }
    state tag {
        packet.extract(hdr.tags.next);
        left.decrement(1);
        transition select(left.is_zero()) {
            true:  accept;
            false: tag;
        }
    }
#include "shared/parser_end.p4"
