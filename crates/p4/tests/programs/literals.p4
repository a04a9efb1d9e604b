// Integer literals in every base, with underscores, with a width; their values.
// expect: ok
// output: dec=1000 hex=0xbeef bin=0b1010 oct=0o17 wide=255 negative=-3 same=true
struct S {
    bit<16> dec; bit<16> hex; bit<8> bin; bit<8> oct; bit<8> wide; int<8> negative; bool same;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.dec = 1_000;
        s.hex = 0xBE_EF;
        s.bin = 0b10_10;
        s.oct = 0o17;
        s.wide = 8w0xFF;
        s.negative = -3;
        s.same = 32w0d12 == 12 && 4s5 == 5;
    }
}
Main(C()) main;
