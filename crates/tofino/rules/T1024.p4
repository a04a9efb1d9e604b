//! T1024: the tables of an action selector have the same selector keys.

#include "shared/egress.p4"
    Hash<bit<14>>(HashAlgorithm_t.CRC16) spread;
    ActionProfile(64) marks;
    ActionSelector(marks, spread, SelectorMode_t.FAIR, 8, 4) groups;
    action mark(bit<8> state) {
        hdr.report.state = state;
    }
    table balance {
        key = {
            eg.egress_port: exact;
#ifndef BROKEN
            hdr.ipv4.src_addr: selector;
#endif
        }
        actions = { mark; NoAction; }
        default_action = NoAction();
        implementation = groups;
        size = 16;
    }
    apply {
        balance.apply();
    }
#include "shared/egress_end.p4"
