// Without `...` every field has to be there.
// expect-error: right at line 9
struct Pair { bit<8> left; bit<8> right; }
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Pair p = { left = 1 };
        s.a = p.left;
    }
}
Main(C()) main;
