// One name, one thing in a scope; both places are shown.
// expect-error: count at line 8
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    bit<8> count = 1;
    bit<16> count = 2;
    apply { s.a = 1; }
}
Main(C()) main;
