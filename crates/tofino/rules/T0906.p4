//! T0906: a deparser emits what is valid.

#include "shared/deparser.p4"
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
#ifdef BROKEN
        if (meta.kind == 1) {
            packet.emit(hdr.report);
        }
#else
        // The control has called `hdr.report.setInvalid()` where no report is wanted.
        packet.emit(hdr.report);
#endif
    }
#include "shared/deparser_end.p4"
