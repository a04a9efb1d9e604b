// Two labels must not be equal.
// expect-error: at line 10
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        switch (s.a) {
            2: { s.a = 1; }
            1 + 1: { s.a = 2; }
        }
    }
}
Main(C()) main;
