// The longest prefix wins, wherever it stands.
// expect: ok
// input: a=0x0a010203
// output: r=24
// input: a=0x0a020203
// output: r=8
// input: a=0x0b000000
// output: r=0
#include <core.p4>
struct S { bit<32> a; bit<8> r; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action set(bit<8> value) { s.r = value; }
    table t {
        key = { s.a : lpm; }
        actions = { set; }
        const entries = {
            0x0a000000 &&& 0xff000000 : set(8);
            0x0a010200 &&& 0xffffff00 : set(24);
            0x0a010000 &&& 0xffff0000 : set(16);
        }
        const default_action = set(0);
    }
    apply { t.apply(); }
}
Main(C()) main;
