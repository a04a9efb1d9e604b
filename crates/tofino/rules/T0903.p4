//! T0903: a deparser copies where the type equals a constant, and nowhere else.

#include "shared/deparser.p4"
    Mirror() mirror;
    apply {
#ifdef BROKEN
        if (meta.delay > 5000000) {
#else
        // The control sets mirror_type where the delay is too long.
        if (dprs.mirror_type == 1) {
#endif
            mirror.emit<copy_h>(meta.session, { meta.kind, meta.delay });
        }
        packet.emit(hdr);
    }
#include "shared/deparser_end.p4"
