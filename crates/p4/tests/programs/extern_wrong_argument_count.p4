// The signature is shown with the error.
// expect-error: at line 13
extern Filter {
    Filter(bit<32> size);
    bit<8> get(in bit<8> index);
}
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    Filter(16) f;
    apply {
        s.a = f.get(s.a, s.a);
    }
}
Main(C()) main;
