// Every abstract method needs a body.
// expect-error: apply at line 11
extern Update {
    Update();
    abstract void apply(inout bit<8> value);
}
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    Update() u = {
    };
    apply { s.a = 1; }
}
Main(C()) main;
