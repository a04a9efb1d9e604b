//! T1033: a table has at least one entry.

#include "shared/egress.p4"
    action drop() {
        dprs.drop_ctl = 1;
    }
    table senders {
        key = { hdr.ipv4.src_addr : exact; }
        actions = { drop; }
#ifdef BROKEN
        size = 0;
#else
        size = 16;
#endif
    }
    apply {
        senders.apply();
    }
#include "shared/egress_end.p4"
