//! T0904: what a deparser copies are fields.

#include "shared/deparser.p4"
    Mirror() mirror;
    apply {
        if (dprs.mirror_type == 1) {
#ifdef BROKEN
            mirror.emit<copy_h>(meta.session, { 3, meta.delay });
#else
            // The control has put 3 into meta.kind.
            mirror.emit<copy_h>(meta.session, { meta.kind, meta.delay });
#endif
        }
        packet.emit(hdr);
    }
#include "shared/deparser_end.p4"
