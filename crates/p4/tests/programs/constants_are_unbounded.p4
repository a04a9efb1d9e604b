// `int` is exact: a product of 200 bits, floor of a shift, division and remainder.
// expect: ok
// output: top=0x80 mod=4 div=14285714 floor=-2 low=1 exact=true
const int HUGE = 1 << 199;
const int TOP = HUGE >> 192;
const int MOD = 100_000_000 % 6;
const int DIV = 100_000_000 / 7;
const bit<256> SQUARE = (HUGE - 1) * 2 + 3;
struct S { bit<8> top; bit<8> mod; bit<32> div; int<8> floor; bit<8> low; bool exact; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.top = TOP;
        s.mod = MOD;
        s.div = DIV;
        s.floor = -3 >> 1;
        s.low = SQUARE[7:0];
        s.exact = SQUARE == (256w1 << 200) + 1;
    }
}
Main(C()) main;
