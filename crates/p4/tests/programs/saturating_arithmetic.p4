// |+| and |-| stop at the ends of the type's range.
// expect: ok
// input: a=200 b=100 c=100 d=-100
// output: add=255 sub=0 sub2=100 sadd=127 ssub=127 smin=-128
struct S {
    bit<8> a; bit<8> b; int<8> c; int<8> d;
    bit<8> add; bit<8> sub; bit<8> sub2; int<8> sadd; int<8> ssub; int<8> smin;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.add = s.a |+| s.b;
        s.sub = s.b |-| s.a;
        s.sub2 = s.a |-| s.b;
        s.sadd = s.c |+| s.c;
        s.ssub = s.c |-| s.d;
        s.smin = s.d |-| s.c;
    }
}
Main(C()) main;
