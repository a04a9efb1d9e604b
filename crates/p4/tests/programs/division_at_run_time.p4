// There is no division of run-time values.
// expect-error: at line 8
struct S { bit<8> a; bit<8> b; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.a = s.a / s.b;
    }
}
Main(C()) main;
