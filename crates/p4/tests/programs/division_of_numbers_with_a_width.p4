// Division and remainder of constants that have a width.
// expect: ok
// output: quotient=3 remainder=1
struct S { bit<8> quotient; bit<8> remainder; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    const bit<8> SEVEN = 7;
    apply {
        s.quotient = SEVEN / 2;
        s.remainder = SEVEN % 8w2;
    }
}
Main(C()) main;
