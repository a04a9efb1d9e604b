// ++ joins, the left operand becomes the high part and gives the sign.
// expect: ok
// input: a=0xa b=-1
// output: ab=0xaff ba=-6 nested=0xaaa
struct S { bit<4> a; int<8> b; bit<12> ab; int<12> ba; bit<12> nested; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.ab = s.a ++ s.b;
        s.ba = s.b ++ s.a;
        s.nested = s.a ++ s.a ++ s.a;
    }
}
Main(C()) main;
