// A router with RFC 8289's CoDel in egress, for Tofino 2: 2 stages of ingress, 11 of egress.
//
// The program is codel_exact.p4 under a short name. Control plane: codel.toml.
#include "codel_exact.p4"
