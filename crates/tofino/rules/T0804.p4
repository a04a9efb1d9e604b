//! T0804: a part of the architecture that is not simulated.

#include "shared/egress.p4"
    Register<bit<1>, bit<17>>(131072) alive;
    Hash<bit<14>>(HashAlgorithm_t.IDENTITY) spread;
    ActionProfile(64) next_hops;
    ActionSelector(next_hops, spread, SelectorMode_t.FAIR, alive, 8, 8) selector;
#ifdef BROKEN
    SelectorAction(selector) take_down = {
        void apply(inout bit<1> value) {
            value = 0;
        }
    };
    apply {
        take_down.execute((bit<32>)eg.egress_port);
    }
#else
    apply { }
#endif
#include "shared/egress_end.p4"
