// `1 << x` has no width to shift in.
// expect-error: at line 8
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.a = 1 << s.a;
    }
}
Main(C()) main;
