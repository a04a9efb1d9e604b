// Every legal cast between number types, bool, enumerations with a representation and new types.
// expect: ok
// input: a=0xfe b=-2
// output: sign=-2 bits=0xfe trunc=0xe wide=0xfe ext=-2 both=0xfffe flag=true num=1 kind=2 port=9
enum bit<8> Kind { None = 0, Two = 2 }
type bit<9> Port;
struct S {
    bit<8> a; int<8> b;
    int<8> sign; bit<8> bits; bit<4> trunc; bit<16> wide; int<16> ext; bit<16> both;
    bool flag; bit<1> num; bit<8> kind; bit<9> port;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.sign = (int<8>)s.a;
        s.bits = (bit<8>)s.b;
        s.trunc = (bit<4>)s.a;
        s.wide = (bit<16>)s.a;
        s.ext = (int<16>)s.b;
        s.both = (bit<16>)(int<16>)s.b;
        s.flag = (bool)s.a[1:1];
        s.num = (bit<1>)s.flag;
        Kind k = (Kind)8w2;
        s.kind = (bit<8>)k;
        Port p = (Port)9w9;
        s.port = (bit<9>)p;
    }
}
Main(C()) main;
