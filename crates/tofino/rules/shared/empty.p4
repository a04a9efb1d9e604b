//! A whole program whose egress control does nothing.

#include "egress.p4"
    apply { }
#include "egress_end.p4"
