//! T0801: the program is for the Tofino Native Architecture.

#ifdef BROKEN
// What psa.p4 declares, cut short.
control Block(inout bit<8> value);
package PSA_Switch(Block ingress, Block egress);

control Nothing(inout bit<8> value) {
    apply { }
}

PSA_Switch(Nothing(), Nothing()) main;
#else
#include <tna.p4>
#include "shared/empty.p4"
#endif
