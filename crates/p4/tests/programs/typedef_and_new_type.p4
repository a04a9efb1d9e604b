// typedef is another name, `type` is a type of its own.
// expect: ok
// input: a=7
// output: b=8 c=7 equal=true
typedef bit<8> Alias;
type bit<8> Own;
struct S { bit<8> a; bit<8> b; bit<8> c; bool equal; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Alias x = s.a;
        s.b = x + 1;
        Own y = (Own)x;
        Own z = (Own)s.a;
        s.c = (Alias)y;
        s.equal = y == z;
    }
}
Main(C()) main;
