//! T0908: a checksum sums whole fields and zeros.

#include "shared/deparser.p4"
    Checksum() checksum;
    apply {
#ifdef BROKEN
        hdr.report.size = checksum.update({ hdr.report.delay, hdr.report.count + 1 });
#else
        // The control counts.
        hdr.report.size = checksum.update({ hdr.report.delay, hdr.report.count });
#endif
        packet.emit(hdr);
    }
#include "shared/deparser_end.p4"
