// No recursion: a type is not known inside itself.
// expect-error: C at line 7
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    C() again;
    apply { again.apply(s); }
}
Main(C()) main;
