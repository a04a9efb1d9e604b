// An action bound in the list with arguments for its directed parameters; one called directly.
// expect: ok
// input: a=1 x=5
// output: x=8 y=8 direct=7
#include <core.p4>
struct S { bit<8> a; bit<8> x; bit<8> y; bit<8> direct; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action add(inout bit<8> to, out bit<8> copy, bit<8> amount) {
        to = to + amount;
        copy = to;
    }
    table t {
        key = { s.a : exact; }
        actions = { add(s.x, s.y); }
        const entries = {
            1 : add(s.x, s.y, 3);
        }
    }
    apply {
        t.apply();
        s.direct = 5;
        bit<8> unused;
        add(s.direct, unused, 2);
    }
}
Main(C()) main;
