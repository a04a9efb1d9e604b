// Its message is the error.
// expect-error: TARGET is longer at line 6
#include <core.p4>
const int TARGET = 100;
const int INTERVAL = 50;
const bool ok = static_assert(TARGET < INTERVAL, "TARGET is longer than INTERVAL");
