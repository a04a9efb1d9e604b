// A new type has the equality of its base, not its arithmetic.
// expect-error: at line 10
type bit<8> Own;
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Own y = (Own)s.a;
        y = y + y;
        s.a = (bit<8>)y;
    }
}
Main(C()) main;
