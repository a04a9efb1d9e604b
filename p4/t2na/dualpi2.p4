// A router with DualPI2 in egress, for Tofino 2: 3 stages of ingress, 12 of egress.
//
// The text is ../tna/dualpi2.p4 with this chip's declarations. Control plane: dualpi2.toml.
#include <t2na.p4>
#include "../tna/dualpi2.p4"
