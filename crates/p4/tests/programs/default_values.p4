// `...` alone: 0, false, first member or 0 of an enumeration, invalid header, all the way down.
// expect: ok
// output: n=0 b=false plain=true coded=0 valid=false made=true f=0
enum Plain { First, Second }
enum bit<8> Coded { One = 1, Zero = 0 }
header H { bit<8> f; }
struct Inner { bit<8> n; bool b; Plain p; Coded c; H h; }
struct S { bit<8> n; bool b; bool plain; bit<8> coded; bool valid; bool made; bit<8> f; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Inner i = ...;
        s.n = i.n;
        s.b = i.b;
        s.plain = i.p == Plain.First;
        s.coded = (bit<8>)i.c;
        s.valid = i.h.isValid();
        H made = { ... };
        s.made = made.isValid();
        s.f = made.f;
    }
}
Main(C()) main;
