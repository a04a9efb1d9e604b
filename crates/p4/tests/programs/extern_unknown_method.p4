// The near name is suggested.
// expect-error: execute at line 13
extern Update {
    Update();
    bit<8> execute(in bit<8> index);
}
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    Update() u;
    apply {
        s.a = u.exceute(s.a);
    }
}
Main(C()) main;
