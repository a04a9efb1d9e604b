// Optional parameters of packages and of block types may be left out.
// expect: ok
// output: a=1
struct S { bit<8> a; }
struct M { bit<8> extra; }
control Test(inout S s, @optional in M m);
package Main(Test first, @optional Test second);
control C(inout S s) {
    apply { s.a = 1; }
}
Main(C()) main;
