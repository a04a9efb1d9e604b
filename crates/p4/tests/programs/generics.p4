// Generic structs, headers, functions and controls; type arguments given and inferred.
// expect: ok
// input: a=4
// output: left=4 right=true same=4 wide=0x0404 valid=true
struct Pair<A, B> { A left; B right; }
header Wrap<T> { T value; }
struct S { bit<8> a; bit<8> left; bool right; bit<8> same; bit<16> wide; bool valid; }
control Test<M>(inout M m);
package Main<M>(Test<M> t);
T identity<T>(in T x) {
    return x;
}
Pair<A, B> pair<A, B>(in A left, in B right) {
    Pair<A, B> p;
    p.left = left;
    p.right = right;
    return p;
}
control C(inout S s) {
    apply {
        Pair<bit<8>, bool> p = pair(s.a, true);
        s.left = p.left;
        s.right = identity<bool>(p.right);
        s.same = identity(s.a);
        Wrap<bit<16>> w = { identity(s.a ++ s.a) };
        s.wide = w.value;
        s.valid = w.isValid();
    }
}
Main(C()) main;
