// A file that is not there is named.
// expect-error: no_such_file.p4 at line 3
#include "no_such_file.p4"
