// Another name of t2na.p4, kept for programs of the first compiler releases.
#include "t2na.p4"
