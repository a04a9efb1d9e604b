// Entries use actions of the list.
// expect-error: other at line 14
#include <core.p4>
struct S { bit<8> a; bit<8> r; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action set() { s.r = 5; }
    action other() { s.r = 6; }
    table t {
        key = { s.a : exact; }
        actions = { set; }
        const entries = {
            1 : other();
        }
        const default_action = set();
    }
    apply { t.apply(); }
}
Main(C()) main;
