// Another name of t2na.p4, kept for programs that name the vendor's parts themselves.
#include "t2na.p4"
