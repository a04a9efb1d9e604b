// Overloading by number of parameters, named arguments, early return.
// expect: ok
// input: a=3
// output: one=6 two=13 named=13 early=1 late=2
struct S { bit<8> a; bit<8> one; bit<8> two; bit<8> named; bit<8> early; bit<8> late; }
control Test(inout S s);
package Main(Test t);
bit<8> f(in bit<8> x) {
    return x + x;
}
bit<8> f(in bit<8> x, in bit<8> y) {
    return f(x) + y;
}
bit<8> g(in bit<8> x) {
    if (x > 2) {
        return 1;
    }
    return 2;
}
control C(inout S s) {
    apply {
        s.one = f(s.a);
        s.two = f(s.a, 7);
        s.named = f(y = 7, x = s.a);
        s.early = g(s.a);
        s.late = g(s.a - 1);
    }
}
Main(C()) main;
