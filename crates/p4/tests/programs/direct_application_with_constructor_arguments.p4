// A type is applied directly only if its constructor takes nothing: the grammar has no other form.
// expect-error: at line 11
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control Add(inout bit<8> x)(bit<8> amount) {
    apply { x = x + amount; }
}
control C(inout S s) {
    apply {
        Add(5).apply(s.a);
    }
}
Main(C()) main;
