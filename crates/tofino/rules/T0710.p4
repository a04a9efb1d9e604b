//! T0710: a table's direct register runs one action, and its direct meter takes a colour always or never.

#include "shared/egress.p4"
    DirectRegister<bit<32>>() met;
    DirectRegisterAction<bit<32>, bit<32>>(met) add = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
#ifdef BROKEN
    DirectRegisterAction<bit<32>, bit<32>>(met) clear = {
        void apply(inout bit<32> value) {
            value = 0;
        }
    };
#endif
    action count() {
        add.execute();
    }
    action restart() {
#ifdef BROKEN
        clear.execute();
#else
        add.execute();
#endif
    }
    table account {
        key = { eg.egress_port: exact; }
        actions = { count; restart; @defaultonly NoAction; }
        default_action = NoAction();
        registers = met;
        size = 16;
    }
    apply {
        account.apply();
    }
#include "shared/egress_end.p4"
