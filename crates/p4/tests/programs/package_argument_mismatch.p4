// The block that a package wants and the one it gets are compared.
// expect-error: at line 9
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(in S s) {
    apply { }
}
Main(C()) main;
