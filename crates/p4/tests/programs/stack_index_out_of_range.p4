// A known index is checked.
// expect-error: at line 10
header H { bit<8> f; }
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        H[2] stack;
        stack[2] = { 1 };
        s.a = stack[0].f;
    }
}
Main(C()) main;
