// minSizeInBits and its relatives on values and types.
// expect: ok
// output: header_bits=24 bytes=3 low=8 high=72 stack=48 whole=9
header Fixed { bit<12> a; int<4> b; bit<8> c; }
header Variable { bit<8> length; varbit<64> data; }
struct S {
    bit<16> header_bits; bit<16> bytes; bit<16> low; bit<16> high; bit<16> stack; bit<16> whole;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Fixed f;
        Variable v;
        Fixed[2] several;
        s.header_bits = f.minSizeInBits();
        s.bytes = (bit<16>)f.maxSizeInBytes();
        s.low = v.minSizeInBits();
        s.high = v.maxSizeInBits();
        s.stack = several.minSizeInBits();
        s.whole = v.maxSizeInBytes();
    }
}
Main(C()) main;
