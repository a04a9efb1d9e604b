// Signed and unsigned order, equality, short circuit, ?: and precedence.
// expect: ok
// input: a=200 b=100 c=-56 d=100
// output: unsigned=true signed=false eq=false pick=200 prec=true
struct S {
    bit<8> a; bit<8> b; int<8> c; int<8> d;
    bool unsigned; bool signed; bool eq; bit<8> pick; bool prec;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.unsigned = s.a > s.b;
        s.signed = s.c > s.d;
        s.eq = s.a == s.b;
        s.pick = s.a > s.b ? s.a : s.b;
        s.prec = s.a & 0x08 == 0x08 || !s.eq && s.b + 1 * 2 == 102;
    }
}
Main(C()) main;
