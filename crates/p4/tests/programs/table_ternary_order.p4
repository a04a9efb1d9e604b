// const entries with masks match in the order of the text; `_` and default match everything.
// expect: ok
// input: a=0x12 b=5
// output: r=1
// input: a=0x15 b=5
// output: r=2
// input: a=0x25 b=7
// output: r=3
// input: a=0x25 b=8
// output: r=4
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
            (0x02 &&& 0x0f, 5) : set(1);
            (0x10 &&& 0xf0, _) : set(2);
            (_, 7)             : set(3);
            (_, _)             : set(4);
        }
    }
    apply { t.apply(); }
}
Main(C()) main;
