//! T1315: a way through Tofino's egress parser is at most 160 bytes, and 65 beside a counter.

#include "shared/parser.p4"
#ifdef BROKEN
    ParserCounter() left;
#endif
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
#ifdef BROKEN
        left.set(8w2);
#endif
        transition tag;
    }
    state tag {
        packet.extract(hdr.tags.next);
#ifdef BROKEN
        left.decrement(1);
        transition select(left.is_zero()) {
            true:    accept;
            default: tag;
#else
        transition select(hdr.tags.last.value) {
            0x8100:  tag;
            default: accept;
#endif
        }
    }
#include "shared/parser_end.p4"
