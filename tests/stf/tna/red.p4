// RED as it is shipped.
#include "../../../p4/tna/red.p4"
