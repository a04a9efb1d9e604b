// Ranges include both ends; elements of a stack; a nested break leaves the inner loop only.
// expect: ok
// input: low=3 high=6
// output: sum=18 product=6 stack=30 outer=3
struct S { bit<8> low; bit<8> high; bit<8> sum; bit<8> product; bit<8> stack; bit<8> outer; }
header H { bit<8> f; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        for (bit<8> i in s.low .. s.high) {
            s.sum = s.sum + i;
        }
        s.product = 1;
        for (bit<8> i in 1 .. 3) {
            s.product = s.product * i;
        }
        H[2] stack = { { 10 }, { 20 } };
        for (H h in stack) {
            s.stack = s.stack + h.f;
        }
        for (bit<8> i in 1 .. 3) {
            for (bit<8> j in 1 .. 3) {
                if (j == 2) { break; }
                s.outer = s.outer + 1;
            }
        }
    }
}
Main(C()) main;
