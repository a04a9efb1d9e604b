// Values wider than any machine word: 300 bits.
// expect: ok
// input: a=1
// output: top=1 low=0 carry=true hash=0x0f
struct S { bit<300> a; bit<8> top; bit<8> low; bool carry; bit<8> hash; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        bit<300> x = s.a << 292;
        s.top = x[299:292];
        s.low = x[7:0];
        bit<300> ones = ~300w0;
        s.carry = ones + s.a == 0 && ones > x;
        bit<300> pattern = (300w0xF0F << 150) ^ (300w0xF00 << 150);
        s.hash = pattern[157:150];
    }
}
Main(C()) main;
