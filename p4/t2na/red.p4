// A router with RED in egress, for Tofino 2: 2 stages of ingress, 6 of egress.
//
// The text is ../tna/red.p4 with this chip's declarations. Control plane: red.toml.
#include <t2na.p4>
#include "../tna/red.p4"
