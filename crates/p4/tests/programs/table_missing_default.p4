// Without a default action a miss does nothing; without a key nothing is looked up.
// expect: ok
// input: a=1
// output: r=5
#include <core.p4>
struct S { bit<8> a; bit<8> r; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action set() { s.r = 5; }
    action other() { s.r = 6; }
    table always {
        actions = { set; }
        default_action = set();
    }
    table never {
        key = { s.a : exact; }
        actions = { other; NoAction; }
    }
    apply {
        always.apply();
        never.apply();
    }
}
Main(C()) main;
