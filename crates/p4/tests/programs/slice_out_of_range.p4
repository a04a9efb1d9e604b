// Bounds of a slice are checked against the width.
// expect-error: at line 8
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.a[8:1] = 0;
    }
}
Main(C()) main;
