// Only bit<1> is near enough to bool.
// expect-error: at line 8
struct S { bit<8> a; bool b; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.b = (bool)s.a;
    }
}
Main(C()) main;
