// A cast changes the width or the sign, not both.
// expect-error: at line 8
struct S { bit<16> a; int<8> b; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.b = (int<8>)s.a;
    }
}
Main(C()) main;
