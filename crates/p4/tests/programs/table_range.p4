// A match kind of the program's own that the interpreter knows by name: range, with both ends.
// expect: ok
// input: a=10
// output: r=1
// input: a=20
// output: r=1
// input: a=21
// output: r=2
// input: a=9
// output: r=0
#include <core.p4>
match_kind { range }
struct S { bit<16> a; bit<8> r; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action set(bit<8> value) { s.r = value; }
    table t {
        key = { s.a : range; }
        actions = { set; NoAction; }
        const entries = {
            10 .. 20 : set(1);
            21       : set(2);
        }
        const default_action = NoAction();
    }
    apply { t.apply(); }
}
Main(C()) main;
