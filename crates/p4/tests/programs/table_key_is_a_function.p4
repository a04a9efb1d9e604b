// A function is no value, and so no key.
// expect-error: expected a value, found a function at line 6
#include <core.p4>
bit<8> f(in bit<8> x) { return x; }
control C(inout bit<8> x) { action a() {}
    table t { key = { f : exact; } actions = { a; } default_action = a; }
    apply { t.apply(); } }
