// A number is not a condition.
// expect-error: at line 8
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        if (s.a) { s.a = 0; }
    }
}
Main(C()) main;
