// A router with fq_codel, a CoDel for each of 32 queues, for Tofino 2: 3 stages of ingress, 11 of egress.
//
// The text is ../tna/fq_codel.p4 with this chip's declarations. Control plane: fq_codel.toml.
#include <t2na.p4>
#include "../tna/fq_codel.p4"
