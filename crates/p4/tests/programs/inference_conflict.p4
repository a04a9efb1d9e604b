// One type parameter, two types.
// expect-error: at line 9
extern void same<T>(in T x, in T y);
struct S { bit<8> a; bit<16> b; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        same(s.a, s.b);
    }
}
Main(C()) main;
