// A type argument that nothing determines has to be given.
// expect-error: T at line 10
extern T make<T>();
extern void take<T>(in T x);
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        take(make());
    }
}
Main(C()) main;
