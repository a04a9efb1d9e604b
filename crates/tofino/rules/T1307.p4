//! T1307: a parser sums a field in the state that extracts it.

#include "shared/parser.p4"
    Checksum() checksum;
    state start {
        packet.extract(eg);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
#ifndef BROKEN
        checksum.subtract({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr });
#endif
        transition select(hdr.ipv4.protocol) {
            17: report;
            default: accept;
        }
    }
    state report {
        packet.extract(hdr.report);
#ifdef BROKEN
        checksum.subtract({ hdr.ipv4.src_addr, hdr.ipv4.dst_addr });
#endif
        checksum.subtract_all_and_deposit(meta.size);
        transition accept;
    }
#include "shared/parser_end.p4"
