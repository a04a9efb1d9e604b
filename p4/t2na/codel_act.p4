// A switch with CoDel-ACT in egress, for Tofino 2: 2 stages of ingress, 7 of egress.
//
// The text is ../tna/codel_act.p4 with this chip's declarations. Control plane: codel_act.toml.
#include <t2na.p4>
#include "../tna/codel_act.p4"
