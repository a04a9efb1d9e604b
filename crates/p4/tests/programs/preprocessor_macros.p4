// Object-like and function-like macros, continuation lines, arguments that are macros, #undef.
// expect: ok
// input: a=5
// output: sum=47 scaled=40 redefined=2
#include <core.p4>
#define BASE 42
#define ADD(x, y) ((x) + (y))
#define SCALE(value, \
              factor) ((value) * (factor))
#define EIGHT 8
#define WHICH 1
#undef WHICH
#define WHICH 2
struct S { bit<16> a; bit<16> sum; bit<16> scaled; bit<16> redefined; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.sum = ADD(s.a, BASE);
        s.scaled = SCALE(s.a, EIGHT);
        s.redefined = WHICH;
    }
}
Main(C()) main;
