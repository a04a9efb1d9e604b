// The right operand of a shift must not be signed.
// expect-error: at line 8
struct S { bit<8> a; int<8> n; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.a = s.a << s.n;
    }
}
Main(C()) main;
