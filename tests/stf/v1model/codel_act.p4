// CoDel-ACT by Listing 2, with a TARGET of 0: a packet that has not waited is above it.
#define TARGET 0
#include "../../../p4/v1model/codel_act.p4"
