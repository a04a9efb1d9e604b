// A number becomes an enumeration by a cast only.
// expect-error: at line 9
enum bit<8> Small { One = 1, Two = 2 }
struct S { bit<8> a; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        Small e = Small.One + 1;
        s.a = (bit<8>)e;
    }
}
Main(C()) main;
