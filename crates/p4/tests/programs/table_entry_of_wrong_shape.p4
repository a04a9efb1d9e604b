// An entry has a value for each key.
// expect-error: at line 12
#include <core.p4>
struct S { bit<8> a; bit<8> b; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    table t {
        key = { s.a : exact; s.b : exact; }
        actions = { NoAction; }
        const entries = {
            (1, 2, 3) : NoAction();
        }
        const default_action = NoAction();
    }
    apply { t.apply(); }
}
Main(C()) main;
