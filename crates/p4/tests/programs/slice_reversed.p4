// The high bound comes first.
// expect-error: at line 8
struct S { bit<8> a; bit<4> b; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.b = s.a[1:4];
    }
}
Main(C()) main;
