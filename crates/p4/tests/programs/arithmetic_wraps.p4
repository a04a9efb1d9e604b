// bit<W> and int<W> arithmetic is modulo 2^W; * truncates; unary minus of bit<W> is 2^W - x.
// expect: ok
// input: a=200 b=100 c=100 d=100
// output: add=44 sub=156 mul=32 neg=56 sadd=-56 smul=16 sneg=-100
// input: a=1 b=2 c=-128 d=1
// output: add=3 sub=1 mul=2 neg=255 sadd=-127 smul=-128 sneg=-128
struct S {
    bit<8> a; bit<8> b; int<8> c; int<8> d;
    bit<8> add; bit<8> sub; bit<8> mul; bit<8> neg; int<8> sadd; int<8> smul; int<8> sneg;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.add = s.a + s.b;
        s.sub = s.b - s.a;
        s.mul = s.a * s.b;
        s.neg = -s.a;
        s.sadd = s.c + s.d;
        s.smul = s.c * s.d;
        s.sneg = -s.c;
    }
}
Main(C()) main;
