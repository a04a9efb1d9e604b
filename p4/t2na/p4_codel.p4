// A switch with P4-CoDel in egress, for Tofino 2: 2 stages of ingress, 7 of egress.
//
// The text is ../tna/p4_codel.p4 with this chip's declarations. Control plane: p4_codel.toml.
#include <t2na.p4>
#include "../tna/p4_codel.p4"
