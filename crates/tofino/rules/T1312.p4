//! T1312: a state looks 32 bytes ahead.

#include "shared/parser.p4"
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
#ifdef BROKEN
        // The verdict of the report, the 40th byte behind Ethernet.
        transition select(packet.lookahead<bit<320>>()[7:0]) {
            0: accept;
            default: report;
        }
    }
    state report {
        packet.extract(hdr.ipv4);
        packet.extract(hdr.report);
        transition accept;
    }
#else
        packet.extract(hdr.ipv4);
        transition select(packet.lookahead<bit<128>>()[7:0]) {
            0: accept;
            default: report;
        }
    }
    state report {
        packet.extract(hdr.report);
        transition accept;
    }
#endif
#include "shared/parser_end.p4"
