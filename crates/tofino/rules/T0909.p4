//! T0909: single bits decide about a checksum in a deparser.

#include "shared/deparser.p4"
    Checksum() checksum;
    apply {
#ifdef BROKEN
        if (hdr.report.state == 4) {
#else
        // The control tests the state.
        if (meta.due == 1) {
#endif
            hdr.report.size = checksum.update({ hdr.report.delay, hdr.report.count });
        }
        packet.emit(hdr);
    }
#include "shared/deparser_end.p4"
