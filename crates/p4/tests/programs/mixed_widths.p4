// Operands of different widths are not brought together silently; each mistake is told.
// expect-error: at line 10
// expect-error: at line 11
// expect-error: at line 12
struct S { bit<8> a; bit<16> b; int<8> c; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.b = s.a + s.b;
        s.a = s.a + s.c;
        s.a = s.b;
    }
}
Main(C()) main;
