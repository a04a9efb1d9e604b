// Controls in controls: instances, a type applied directly, locals that start anew in each call.
// expect: ok
// input: a=1
// output: x=2 y=3 z=4 fresh=1
struct S { bit<8> a; bit<8> x; bit<8> y; bit<8> z; bit<8> fresh; }
control Test(inout S s);
package Main(Test t);
control Increment(in bit<8> x, out bit<8> y) {
    bit<8> local = 1;
    apply {
        y = x + local;
        local = local + 1;
    }
}
control Nested(in bit<8> x, out bit<8> y) {
    Increment() inner;
    apply { inner.apply(x, y); }
}
control C(inout S s) {
    Nested() nested;
    Nested() again;
    bit<8> zero = 0;
    apply {
        nested.apply(s.a, s.x);
        again.apply(s.x, s.y);
        Nested.apply(s.y, s.z);
        nested.apply(zero, s.fresh);
    }
}
Main(C()) main;
