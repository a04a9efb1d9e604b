// Actions do not apply tables.
// expect-error: at line 13
#include <core.p4>
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    table t {
        actions = { NoAction; }
        default_action = NoAction();
    }
    action a() {
        t.apply();
    }
    apply { a(); }
}
Main(C()) main;
