// Controls with constructor parameters; three instances with values of their own.
// expect: ok
// input: a=1
// output: x=11 y=21 z=6
struct S { bit<8> a; bit<8> x; bit<8> y; bit<8> z; }
control Test(inout S s);
package Main(Test t);
control Add(in bit<8> x, out bit<8> y)(bit<8> amount, bool twice) {
    apply {
        y = x + amount;
        if (twice) {
            y = y + amount;
        }
    }
}
control C(inout S s) {
    Add(10, false) ten;
    Add(twice = true, amount = 10) twenty;
    Add(5, false) five;
    apply {
        ten.apply(s.a, s.x);
        twenty.apply(s.a, s.y);
        five.apply(s.a, s.z);
    }
}
Main(C()) main;
