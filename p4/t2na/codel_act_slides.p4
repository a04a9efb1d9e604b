// A switch with CoDel-ACT as its authors' slides have it, for Tofino 2.
//
// The text is ../tna/codel_act_slides.p4 with this chip's declarations. Control plane: codel_act_slides.toml.
#include <t2na.p4>
#include "../tna/codel_act_slides.p4"
