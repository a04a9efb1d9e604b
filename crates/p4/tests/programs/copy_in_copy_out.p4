// Arguments are copied in from left to right and copied out from left to right at the end.
// expect: ok
// input: a=1
// output: a=20 swapped_x=2 swapped_y=1 kept=5 alias=9
struct S { bit<8> a; bit<8> swapped_x; bit<8> swapped_y; bit<8> kept; bit<8> alias; }
control Test(inout S s);
package Main(Test t);
void both(inout bit<8> x, inout bit<8> y) {
    x = 10;
    y = 20;
}
void swap<T>(inout T x, inout T y) {
    T t = x;
    x = y;
    y = t;
}
bit<8> by_value(in bit<8> x) {
    return x + 1;
}
// Sees the value that x had at the call, not what it assigns to y in between.
void aliased(in bit<8> x, out bit<8> y) {
    y = 4;
    y = y + x;
}
control C(inout S s) {
    apply {
        both(s.a, s.a);
        s.swapped_x = 1;
        s.swapped_y = 2;
        swap(s.swapped_x, s.swapped_y);
        s.kept = 5;
        bit<8> unused = by_value(s.kept);
        s.alias = 5;
        aliased(s.alias, s.alias);
    }
}
Main(C()) main;
