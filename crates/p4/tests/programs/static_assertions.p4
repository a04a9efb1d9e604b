// A static_assert that holds costs nothing and is a constant.
// expect: ok
// output: a=1
#include <core.p4>
const bool fits = static_assert(5_000_000 < (1 << 32), "TARGET fits 32 bits");
const bool again = static_assert(fits);
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.a = again ? 8w1 : 0;
    }
}
Main(C()) main;
