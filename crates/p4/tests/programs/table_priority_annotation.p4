// p4c's @priority on const entries: the smallest number wins, and an entry without it has its place
// in the list, counted from 1. So the third wins over the second, and the second over the first.
// expect: ok
// input: a=0x15 b=5
// output: r=3
// input: a=0x15 b=6
// output: r=2
// input: a=0x25 b=6
// output: r=1
#include <core.p4>
struct S { bit<8> a; bit<8> b; bit<8> r; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action set(bit<8> value) { s.r = value; }
    table t {
        key = { s.a : ternary; s.b : ternary; }
        actions = { set; }
        const entries = {
            (_, _)             : set(1) @priority(3);
            (0x10 &&& 0xf0, _) : set(2);
            (_, 5)             : set(3) @priority(1);
        }
    }
    apply { t.apply(); }
}
Main(C()) main;
