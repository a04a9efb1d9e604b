// A switch with CoDel-ACT as its authors' slides have it: 1 stage of ingress, 7 of egress.
//
// codel_act.p4 with CODEL_ACT_SLIDES: the first packet above TARGET is dropped, and each packet of the
// dropping state adds to count. aqm/codel_act.p4 says what the slides say and where they contradict the
// paper. Control plane: codel_act_slides.toml, which is that of codel_act.p4.
#define CODEL_ACT_SLIDES
#include "codel_act.p4"
