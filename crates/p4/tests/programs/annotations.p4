// Annotations of every form are accepted and do nothing.
// expect: ok
// output: a=1
@unstructured(any tokens { } ( 1 + ) here)
@empty
@list[1, "two", true]
@pairs[key = 3, other = "x"]
struct S {
    @padding bit<4> pad;
    @name("renamed") bit<8> a;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    @hidden action set() { s.a = 1; }
    apply {
        @atomic { set(); }
    }
}
@pkginfo(arch="none", version="1")
Main(C()) main;
