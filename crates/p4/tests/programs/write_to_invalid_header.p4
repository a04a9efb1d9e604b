// Writing a field does not make a header valid.
// expect: ok
// output: valid=false other=7
header H { bit<8> f; }
struct S { bool valid; bit<8> other; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        H h;
        H other = { 7 };
        h.f = 1;
        s.valid = h.isValid();
        s.other = other.f;
    }
}
Main(C()) main;
