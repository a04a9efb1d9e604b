// Tuple and structure initialisers, named fields in any order, default values, equality, copy.
// expect: ok
// input: a=1
// output: x=1 y=2 z=0 same=true other=false copy=2 rest=false
struct Pair { bit<8> left; bit<8> right; }
struct Deep { Pair pair; bool flag; }
struct S {
    bit<8> a; bit<8> x; bit<8> y; bit<8> z; bool same; bool other; bit<8> copy; bool rest;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Pair p = { s.a, 2 };
        Pair q = { right = 2, left = 1 };
        Deep d = (Deep){ pair = p, flag = true };
        Deep e = { pair = { left = 5, ... }, ... };
        s.x = d.pair.left;
        s.y = q.right;
        s.z = e.pair.right;
        s.rest = e.flag;
        s.same = p == q;
        s.other = d == e;
        Pair r = p;
        p.right = 77;
        s.copy = r.right;
    }
}
Main(C()) main;
