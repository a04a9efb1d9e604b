//! T1022: an instruction writes a container.

#include "shared/egress.p4"
    apply {
#ifdef BROKEN
        hdr.ipv4.ecn = hdr.ipv4.ecn + 1;
#else
        hdr.ipv4.dscp = hdr.ipv4.dscp + 1;
#endif
    }
#include "shared/egress_end.p4"
