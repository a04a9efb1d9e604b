// Elements by an index that is only known at run time, read and written; outside, nothing changes.
// expect: ok
// input: i=0
// output: read=10 first=99 second=20
// input: i=1
// output: read=20 first=10 second=99
// input: i=7
// output: first=10 second=20
header H { bit<8> f; }
struct S { bit<8> i; bit<8> read; bit<8> first; bit<8> second; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        H[2] stack = { { 10 }, { 20 } };
        s.read = stack[s.i].f;
        stack[s.i].f = 99;
        s.first = stack[0].f;
        s.second = stack[1].f;
    }
}
Main(C()) main;
