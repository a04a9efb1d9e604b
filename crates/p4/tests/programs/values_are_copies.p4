// Assigning a struct, a header or a stack copies it; later changes of one leave the other alone.
// expect: ok
// input: a=1
// output: inner=1 changed=9 header_field=1 element=1 valid=true
struct Inner { bit<8> n; }
struct Outer { Inner inner; }
header H { bit<8> f; }
struct S {
    bit<8> a; bit<8> inner; bit<8> changed; bit<8> header_field; bit<8> element; bool valid;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Outer x = { { s.a } };
        Outer y = x;
        x.inner.n = 9;
        s.inner = y.inner.n;
        s.changed = x.inner.n;
        H h = { s.a };
        H[2] stack;
        stack[1] = h;
        H copy = stack[1];
        h.f = 7;
        stack[1].setInvalid();
        s.header_field = copy.f;
        s.valid = copy.isValid();
        H[2] other = { { 1 }, { 2 } };
        stack = other;
        other[0].f = 8;
        s.element = stack[0].f;
    }
}
Main(C()) main;
