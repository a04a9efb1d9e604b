// return leaves one block; exit leaves all, and copies out on its way.
// expect: ok
// input: a=0
// output: r=1 after=1 inner=1
// input: a=1
// output: r=1 after=0 inner=1
// input: a=2
// output: r=2 after=1 inner=9
struct S { bit<8> a; bit<8> r; bit<8> after; bit<8> inner; }
control Test(inout S s);
package Main(Test t);
control Inner(in bit<8> a, inout bit<8> r, inout bit<8> inner) {
    action leave() {
        r = 1;
        exit;
    }
    apply {
        inner = 1;
        if (a == 0) {
            r = 1;
            return;
        }
        if (a == 1) {
            leave();
        }
        r = 2;
        inner = 9;
    }
}
control C(inout S s) {
    Inner() inner;
    apply {
        inner.apply(s.a, s.r, s.inner);
        s.after = 1;
    }
}
Main(C()) main;
