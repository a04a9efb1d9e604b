// PIE with a target of 0 that updates with each packet: a delay of any length raises the probability.
#define QDELAY_REF 0
#define T_UPDATE 1000
#include "../../../p4/tna/pie.p4"
