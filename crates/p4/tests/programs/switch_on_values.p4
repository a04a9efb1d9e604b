// switch on a number: fall-through of empty labels, default last, no case at all.
// expect: ok
// input: a=1
// output: r=10 t=0
// input: a=2
// output: r=20 t=1
// input: a=3
// output: r=20 t=1
// input: a=9
// output: r=99 t=0
struct S { bit<8> a; bit<8> r; bit<8> t; }
control Test(inout S s);
package Main(Test t);
enum Size { Small, Large }
control C(inout S s) {
    apply {
        switch (s.a) {
            1: { s.r = 10; }
            2:
            1 + 2: { s.r = 20; }
            default: { s.r = 99; }
        }
        Size size = s.r == 20 ? Size.Large : Size.Small;
        switch (size) {
            Size.Large: { s.t = 1; }
        }
    }
}
Main(C()) main;
