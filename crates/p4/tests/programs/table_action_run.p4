// switch on the action that ran, hit or miss; a label may fall through; exit inside an action.
// expect: ok
// input: a=1
// output: r=10 after=1
// input: a=2
// output: r=10 after=1
// input: a=3
// output: r=30 after=1
// input: a=4
// output: r=0 after=0
#include <core.p4>
struct S { bit<8> a; bit<8> r; bit<8> after; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action one() { }
    action two() { }
    action three() { }
    action leave() { exit; }
    table t {
        key = { s.a : exact; }
        actions = { one; two; leave; @defaultonly three; }
        const entries = {
            1 : one();
            2 : two();
            4 : leave();
        }
        const default_action = three();
    }
    apply {
        switch (t.apply().action_run) {
            one:
            two: { s.r = 10; }
            default: { s.r = 30; }
        }
        s.after = 1;
    }
}
Main(C()) main;
