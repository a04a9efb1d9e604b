// Another name of tna.p4, kept for programs of the first compiler releases.
#include "tna.p4"
