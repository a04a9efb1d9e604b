// An inner name hides an outer one; parameters hide globals; a block's names end with it.
// expect: ok
// input: a=1
// output: a=1 inner=3 global=100 block=2
const bit<8> x = 100;
struct S { bit<8> a; bit<8> inner; bit<8> global; bit<8> block; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    bit<8> x = 2;
    apply {
        s.block = x;
        {
            bit<8> x = 3;
            s.inner = x;
            x = 50;
        }
        s.block = x;
        s.global = .x;
    }
}
Main(C()) main;
