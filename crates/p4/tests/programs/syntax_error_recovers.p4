// The parser goes on after a mistake and finds the next one.
// expect-error: at line 9
// expect-error: at line 15
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.a = ;
        s.a = 1;
    }
}
control D(inout S s) {
    apply {
        s.a = (1 + 2;
    }
}
Main(C()) main;
