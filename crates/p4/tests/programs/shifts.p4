// Shifts by more than the width; arithmetic shift of int<W>; amounts only known at run time.
// expect: ok
// input: a=0x81 b=-127 n=1
// output: left=2 right=0x40 sleft=2 sright=-64 over=0 sover=-1 by8=0 big=256
// input: a=0x81 b=-127 n=200
// output: left=0 right=0 sleft=0 sright=-1 over=0 sover=-1 by8=0 big=256
struct S {
    bit<8> a; int<8> b; bit<8> n;
    bit<8> left; bit<8> right; int<8> sleft; int<8> sright; bit<8> over; int<8> sover; bit<8> by8;
    bit<16> big;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.left = s.a << s.n;
        s.right = s.a >> s.n;
        s.sleft = s.b << s.n;
        s.sright = s.b >> s.n;
        s.over = s.a << 1024;
        s.sover = s.b >> 1024;
        s.by8 = s.a >> 8;
        s.big = 16w1 << 8w8;
    }
}
Main(C()) main;
