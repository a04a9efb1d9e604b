// A comma may follow the last element of enumerations, lists and arguments of initialisers.
// expect: ok
// output: a=2
enum bit<8> Small { One = 1, Two = 2, }
struct Pair { bit<8> x; bit<8> y; }
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Pair p = { x = 1, y = Small.Two, };
        s.a = p.y;
    }
}
Main(C()) main;
