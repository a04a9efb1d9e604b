// At most one member of a union is valid.
// expect: ok
// output: start=false first=true second=true lost=true copied=9 ended=false equal=true
header A { bit<8> a; }
header B { bit<16> b; }
header_union U { A a; B b; }
struct S {
    bool start; bool first; bool second; bool lost; bit<16> copied; bool ended; bool equal;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        U u;
        U v;
        s.start = u.isValid();
        u.a = { 3 };
        s.first = u.isValid() && u.a.isValid();
        u.b = { 9 };
        s.second = u.b.isValid();
        s.lost = !u.a.isValid();
        v = u;
        s.copied = v.b.b;
        s.equal = v == u;
        u.b.setInvalid();
        s.ended = u.isValid();
    }
}
Main(C()) main;
