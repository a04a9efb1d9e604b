//! T0901: a mirror header is at most 32 bytes.

header big_copy_h {
    bit<32> src_addr;
    bit<32> dst_addr;
    bit<32> delay;
    bit<32> count;
    bit<32> drop_next;
    bit<32> extra;
    bit<32> now;
    bit<32> arrival;
#ifdef BROKEN
    bit<8>  verdict;
#endif
}

#include "shared/deparser.p4"
    Mirror() mirror;
    apply {
        if (dprs.mirror_type == 1) {
            mirror.emit<big_copy_h>(meta.session, {
                hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.report.delay, hdr.report.count,
                hdr.report.drop_next, hdr.report.extra, meta.now, meta.delay
#ifdef BROKEN
                , hdr.report.verdict
#endif
            });
        }
        packet.emit(hdr);
    }
#include "shared/deparser_end.p4"
