// Keys are computed once, in their order, before the action runs; the action sees the new values
// that computing them left.
// expect: ok
// input: x=8 y=0
// output: hit=true y=13 seen=13
// input: x=9 y=0
// output: hit=false y=14 seen=0
#include <core.p4>
struct S { bit<8> x; bit<8> y; bool hit; bit<8> seen; }
control Test(inout S s);
package Main(Test t);
bit<8> halve(in bit<8> a, inout bit<8> b) {
    b = a + 5;
    return a >> 1;
}
control C(inout S s) {
    action see() { s.seen = s.y; }
    table t {
        key = {
            s.y              : exact @name("before");
            halve(s.x, s.y)  : exact @name("half");
            s.y              : exact @name("after");
        }
        actions = { see; NoAction; }
        const entries = {
            (0, 4, 13) : see();
        }
        const default_action = NoAction();
    }
    apply { s.hit = t.apply().hit; }
}
Main(C()) main;
