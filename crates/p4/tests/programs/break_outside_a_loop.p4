// break belongs to a loop.
// expect-error: at line 8
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        break;
    }
}
Main(C()) main;
