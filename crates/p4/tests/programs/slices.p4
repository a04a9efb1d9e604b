// Reading and assigning slices; a slice of a signed value is unsigned.
// expect: ok
// input: a=0x12345678 b=-1
// output: mid=0x456 a=0x1ab45678 top=0xf bit3=1
struct S { bit<32> a; int<8> b; bit<12> mid; bit<4> top; bit<1> bit3; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    const bit<8> HIGH = 19;
    apply {
        s.mid = s.a[HIGH:8];
        s.a[27:20] = 0xab;
        s.top = s.b[7:4];
        s.bit3 = s.a[3:3];
    }
}
Main(C()) main;
