// The near name is suggested; the second mistake is told, too.
// expect-error: sojourn at line 9
// expect-error: at line 10
struct S { bit<8> sojourn; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.sojuorn = 1;
        s.sojourn = intervall;
    }
}
Main(C()) main;
