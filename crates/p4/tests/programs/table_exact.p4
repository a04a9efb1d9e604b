// const entries with exact keys, hit and miss, action data, a default action with arguments.
// expect: ok
// input: a=1 b=2
// output: r=10 hit=true miss=false
// input: a=1 b=3
// output: r=99 hit=false miss=true
#include <core.p4>
struct S { bit<8> a; bit<8> b; bit<8> r; bool hit; bool miss; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action set(bit<8> value) { s.r = value; }
    action nothing() { }
    table t {
        key = { s.a : exact; s.b + 1 : exact @name("b1"); }
        actions = { set; nothing; }
        const entries = {
            (1, 3) : set(10);
            (2, 3) : nothing();
        }
        default_action = set(99);
        size = 16;
    }
    apply {
        if (t.apply().hit) { s.hit = true; } else { s.miss = true; }
    }
}
Main(C()) main;
