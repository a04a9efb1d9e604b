// Match kinds are declared; the near name is suggested.
// expect-error: exact at line 9
#include <core.p4>
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    table t {
        key = { s.a : exakt; }
        actions = { NoAction; }
        default_action = NoAction();
    }
    apply { t.apply(); }
}
Main(C()) main;
