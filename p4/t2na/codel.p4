// A router with RFC 8289's CoDel in egress, for Tofino 2: 2 stages of ingress, 11 of egress.
//
// The program is ../tna/codel_exact.p4 with this chip's declarations, under the short name. Control
// plane: codel.toml.
#include <t2na.p4>
#include "../tna/codel_exact.p4"
