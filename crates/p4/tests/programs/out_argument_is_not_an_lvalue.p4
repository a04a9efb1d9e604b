// What is copied out needs a place.
// expect-error: at line 9
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
void set(out bit<8> x) { x = 1; }
control C(inout S s) {
    apply {
        set(s.a + 1);
    }
}
Main(C()) main;
