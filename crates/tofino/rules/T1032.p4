//! T1032: a table with ternary keys fits the TCAM.

#include "shared/egress.p4"
    action drop() {
        dprs.drop_ctl = 1;
    }
    table senders {
        key = { hdr.ipv4.src_addr : ternary; hdr.ipv4.dst_addr : ternary; }
        actions = { drop; }
#ifdef BROKEN
        size = 200000;
#else
        size = 2000;
#endif
    }
    apply {
        senders.apply();
    }
#include "shared/egress_end.p4"
