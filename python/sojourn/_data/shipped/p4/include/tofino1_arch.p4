// Another name of tna.p4, kept for programs that name the vendor's parts themselves.
#include "tna.p4"
