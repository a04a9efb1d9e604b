// Tuples: construction, nesting, element by constant index, equality.
// expect: ok
// input: a=3
// output: first=3 second=true inner=9 equal=true
struct S { bit<8> a; bit<8> first; bool second; bit<8> inner; bool equal; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        tuple<bit<8>, bool> t = { s.a, true };
        tuple<tuple<bit<8>, bool>, bit<8>> n = { t, 9 };
        s.first = t[0];
        s.second = n[0][1];
        s.inner = n[1];
        s.equal = t == n[0];
    }
}
Main(C()) main;
