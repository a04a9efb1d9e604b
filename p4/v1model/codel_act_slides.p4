// A router with CoDel-ACT as its authors' slides have it: the Tofino program's split state, on bmv2.
//
// codel_act.p4 with CODEL_ACT_SLIDES: the first packet above TARGET is dropped, and each packet of the
// dropping state adds to count. ../tna/aqm/codel_act.p4 says what the slides say and where they
// contradict the paper. Control plane: codel_act_slides.toml, which is that of codel_act.p4.
#define CODEL_ACT_SLIDES
#include "codel_act.p4"
