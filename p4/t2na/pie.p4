// A router with PIE in egress, for Tofino 2: 2 stages of ingress, 9 of egress.
//
// The text is ../tna/pie.p4 with this chip's declarations. Control plane: pie.toml.
#include <t2na.p4>
#include "../tna/pie.p4"
