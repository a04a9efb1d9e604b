//! T1306: the length of a varbit is whole bytes by one field of at most 10 bits.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
#ifdef BROKEN
        packet.extract(hdr.options, (bit<32>)hdr.ipv4.ihl);
#else
        packet.extract(hdr.options, ((bit<32>)hdr.ipv4.ihl - 5) * 32);
#endif
        transition select(hdr.ipv4.protocol) {
            17: report;
            default: accept;
        }
    }
    state report {
        packet.extract(hdr.report);
        transition accept;
    }
#include "shared/parser_end.p4"
